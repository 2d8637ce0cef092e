//! Pairs of texts: one is cached, the other is asked.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use tower::BoxError;

use super::halves::halves;
use super::{Case, Half, Pool, Set, Text, read};

/// A labelled pair: one line of a JSONL file.
#[derive(Clone, Debug, Deserialize)]
pub struct Pair {
    a: Text,
    b: Text,
    same_answer: bool,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    split: Option<String>,
}

/// Reads a file of pairs, one JSON object a line: `{"a": …, "b": …, "same_answer": true}`, with `category` and `split`
/// (`dev` or `test`) where they are known. `a` and `b` are texts, or conversations as lists of messages.
///
/// Without splits, the pairs are halved so that no text is in both halves.
///
/// # Errors
///
/// The file cannot be read, or a line is not such a pair; the message names the line.
pub fn pairs(file: &Path) -> Result<Set, BoxError> {
    parse(&file.display().to_string(), &read(file)?)
}

pub(super) fn parse(name: &str, lines: &str) -> Result<Set, BoxError> {
    let mut found = Vec::new();
    for (number, line) in lines.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let pair: Pair = serde_json::from_str(line)
            .map_err(|error| format!("{name}, line {}: {error}", number + 1))?;
        found.push(pair);
    }
    let texts: Vec<(Arc<str>, Arc<str>)> = found
        .iter()
        .map(|pair| (pair.a.joined().into(), pair.b.joined().into()))
        .collect();
    let halves = halves(&texts);
    let mut set = Set {
        name: name.to_owned(),
        pools: Vec::with_capacity(found.len()),
        cases: Vec::with_capacity(found.len()),
    };
    for ((pair, (a, b)), half) in found.iter().zip(texts).zip(halves) {
        let half = match pair.split.as_deref() {
            None => half,
            Some("dev" | "train") => Half::Dev,
            Some("test") => Half::Test,
            Some(other) => {
                return Err(format!("{name}: a split is dev or test, not {other}").into());
            }
        };
        let family = pair.category.as_deref().unwrap_or("all");
        set.cases.push(Case {
            asked: b,
            pool: set.pools.len(),
            answer: u32::from(!pair.same_answer),
            answerable: pair.same_answer,
            family: family.to_owned(),
            half,
        });
        set.pools.push(Pool {
            entries: vec![(a, 0)],
        });
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_texts_or_conversations() {
        let lines = r#"{"a":"x","b":"y","same_answer":true,"split":"test","category":"c","more":1}

{"a":[{"role":"user","content":"p"},{"role":"assistant","content":"q"},{"role":"user","content":"r"}],"b":"r","same_answer":false}"#;
        let set = parse("here", lines).expect("pairs");
        assert_eq!(set.cases.len(), 2);
        assert!(set.cases[0].answerable && !set.cases[1].answerable);
        assert_eq!(set.cases[0].half, Half::Test);
        assert_eq!(&*set.cases[0].family, "c");
        assert_eq!(&*set.pools[1].entries[0].0, "p\u{1e}\u{1f}q\u{1e}r");
        assert_eq!(set.texts().len(), 4);
    }

    #[test]
    fn a_line_that_is_no_pair_is_named() {
        let error = parse("here", "{\"a\":\"x\",\"b\":\"y\",\"same_answer\":true}\n{}")
            .expect_err("no pair");
        assert!(error.to_string().starts_with("here, line 2: "), "{error}");
        assert!(
            parse(
                "here",
                r#"{"a":"x","b":"y","same_answer":true,"split":"half"}"#
            )
            .is_err()
        );
    }
}
