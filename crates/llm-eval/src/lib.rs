//! Evaluation of the semantic cache.
#![forbid(unsafe_code)]

/// Pairs of texts and of conversations, with whether one answer is right for both: one JSON object a
/// line. `data/README.md` says what is in it.
pub const LABELLED: &str = include_str!("../data/labelled.jsonl");
