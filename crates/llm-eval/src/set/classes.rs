//! Classified texts: those of one class have one answer.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use tower::BoxError;

use super::{Case, Half, Pool, Set, csv, read};

/// Reads a CSV file of texts and labels, with or without a header `text,…`.
///
/// The first, fourth, seventh … text of each class are cached; of the others, one is a case of the dev half and one of the
/// test half in turn. A single text of its class is asked, and nothing cached answers it.
///
/// # Errors
///
/// The file cannot be read, or a row has not two fields; the message names the row.
pub fn classes(file: &Path) -> Result<Set, BoxError> {
    parse(&file.display().to_string(), &read(file)?)
}

fn parse(name: &str, text: &str) -> Result<Set, BoxError> {
    let mut rows = Vec::new();
    for (number, row) in csv::rows(text).into_iter().enumerate() {
        let [text, label] = <[String; 2]>::try_from(row)
            .map_err(|row| format!("{name}, row {}: {} fields, not 2", number + 1, row.len()))?;
        if number > 0 || text != "text" {
            rows.push((Arc::<str>::from(text), label));
        }
    }
    let mut sizes: HashMap<_, usize> = HashMap::new();
    for (_, label) in &rows {
        *sizes.entry(label.clone()).or_default() += 1;
    }
    let mut numbers = HashMap::new();
    let mut seen: HashMap<_, usize> = HashMap::new();
    let mut pool = Pool {
        entries: Vec::new(),
    };
    let mut cases = Vec::new();
    for (text, label) in rows {
        let next = numbers.len() as u32;
        let answer = *numbers.entry(label.clone()).or_insert(next);
        let at = seen.entry(label.clone()).or_default();
        let answerable = sizes.get(&label).is_some_and(|size| *size > 1);
        let half = match (*at % 3, answerable) {
            (0, true) => None,
            (0 | 1, _) => Some(Half::Dev),
            _ => Some(Half::Test),
        };
        *at += 1;
        match half {
            None => pool.entries.push((text, answer)),
            Some(half) => cases.push(Case {
                asked: text,
                pool: 0,
                answer,
                answerable,
                family: label,
                half,
            }),
        }
    }
    Ok(Set {
        name: name.to_owned(),
        pools: vec![pool],
        cases,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_of_each_class_are_cached_and_the_others_asked() {
        let set = parse("here", "text,category\na,x\nb,x\nc,x\nd,x\ne,y\n").expect("classes");
        let cached: Vec<_> = set.pools[0]
            .entries
            .iter()
            .map(|(text, _)| &**text)
            .collect();
        assert_eq!(cached, ["a", "d"]);
        let asked: Vec<_> = set
            .cases
            .iter()
            .map(|case| (&*case.asked, case.answerable, case.half))
            .collect();
        assert_eq!(
            asked,
            [
                ("b", true, Half::Dev),
                ("c", true, Half::Test),
                ("e", false, Half::Dev)
            ]
        );
        assert!(parse("here", "one\n").is_err());
    }
}
