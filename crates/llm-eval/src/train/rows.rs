//! The pairs of the project's own set, as the verifier is trained on them.

use serde::Deserialize;
use tower::BoxError;

use crate::set::{Half, Text};

/// A pair of texts with its label.
#[derive(Clone, Debug)]
pub struct Row {
    /// What both are about; pairs of one topic share texts.
    pub topic: String,
    /// What kind of rewording, or of trap.
    pub category: String,
    /// Weights are made from the dev half only.
    pub half: Half,
    /// The label.
    pub same_answer: bool,
    /// One text.
    pub asked: String,
    /// The other.
    pub cached: String,
    /// Their cosine under all-MiniLM-L6-v2.
    pub similarity: f32,
}

#[derive(Deserialize)]
struct Line {
    a: Text,
    b: Text,
    same_answer: bool,
    category: String,
    topic: String,
    split: String,
    similarity: f32,
}

/// The pairs of single texts; conversations have rules of their own.
///
/// # Errors
///
/// None: the set is a part of the program, and a test reads it.
pub fn rows() -> Result<Vec<Row>, BoxError> {
    let mut rows = Vec::new();
    for line in crate::LABELLED.lines() {
        let line: Line = serde_json::from_str(line)?;
        if let (Text::Plain(asked), Text::Plain(cached)) = (line.a, line.b) {
            rows.push(Row {
                topic: line.topic,
                category: line.category,
                half: if line.split == "test" {
                    Half::Test
                } else {
                    Half::Dev
                },
                same_answer: line.same_answer,
                asked,
                cached,
                similarity: line.similarity,
            });
        }
    }
    Ok(rows)
}
