//! The reference system's own set: cached prompts, look-ups, and what it published of them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tower::BoxError;

use super::{Case, Half, Pool, Set, read};

/// The set, and the published results.
#[derive(Clone, Debug)]
pub struct Reference {
    /// 37 cached prompts, 267 look-ups of which 111 have an answer among them. Every case is of the test half: nothing is
    /// to be learned from it.
    pub set: Set,
    /// `expected.json`.
    pub expected: Value,
}

#[derive(Deserialize)]
struct Row {
    family: String,
    prompt: String,
    answer: String,
    #[serde(default)]
    answerable: bool,
}

/// Reads the set from the folder of public data.
///
/// # Errors
///
/// A file is not there, or is not what it must be.
pub fn reference(data: &Path) -> Result<Reference, BoxError> {
    let folder = data.join("seed");
    let cached = rows(&folder.join("cache_eval_cached.jsonl"))?;
    let asked = rows(&folder.join("cache_eval_queries.jsonl"))?;
    let expected = serde_json::from_str(&read(&folder.join("expected.json"))?)?;
    let mut numbers = HashMap::new();
    let mut number = |answer: String| {
        let next = numbers.len() as u32;
        *numbers.entry(answer).or_insert(next)
    };
    let entries = cached
        .into_iter()
        .map(|row| (Arc::from(row.prompt), number(row.answer)))
        .collect();
    let cases = asked
        .into_iter()
        .map(|row| Case {
            asked: row.prompt.into(),
            pool: 0,
            answer: number(row.answer),
            answerable: row.answerable,
            family: row.family,
            half: Half::Test,
        })
        .collect();
    let set = Set {
        name: "reference".to_owned(),
        pools: vec![Pool { entries }],
        cases,
    };
    Ok(Reference { set, expected })
}

fn rows(file: &Path) -> Result<Vec<Row>, BoxError> {
    let text = read(file)?;
    let rows = text.lines().map(serde_json::from_str);
    let rows: Result<_, _> = rows.collect();
    rows.map_err(|error| format!("{}: {error}", file.display()).into())
}
