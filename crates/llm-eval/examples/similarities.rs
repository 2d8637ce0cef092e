//! Fills in the `similarity` of every pair of a labelled set, and writes the set to standard output:
//!
//! ```text
//! cargo run --release -p llm-eval --example similarities -- models/all-MiniLM-L6-v2 \
//!     crates/llm-eval/data/labelled.jsonl > labelled.new
//! ```
//!
//! It is the cosine of the two texts, of conversations that of their last messages, to six digits.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::path::PathBuf;
use std::sync::Arc;

use llm_eval::set::Text;
use llm_eval::vectors::{Named, Settings, Vectors, cosine};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tower::BoxError;

#[derive(Deserialize, Serialize)]
struct Line {
    id: String,
    a: Value,
    b: Value,
    same_answer: bool,
    category: String,
    topic: String,
    split: String,
    #[serde(default)]
    similarity: f64,
}

fn main() -> Result<(), BoxError> {
    let mut args = std::env::args().skip(1);
    let (Some(model), Some(set)) = (args.next(), args.next()) else {
        return Err("usage: similarities MODEL_DIR SET.jsonl".into());
    };
    let lines = std::fs::read_to_string(set)?;
    let lines: Result<Vec<Line>, _> = lines.lines().map(serde_json::from_str).collect();
    let mut lines = lines?;
    let mut texts = Vec::with_capacity(lines.len());
    for line in &lines {
        texts.push((text(&line.a)?, text(&line.b)?));
    }
    let settings = Settings {
        folder: PathBuf::from(model),
        threads: std::thread::available_parallelism()?.get(),
        url: None,
        model: None,
    };
    let mut all: Vec<Arc<str>> = texts.iter().flat_map(|(a, b)| [a, b]).cloned().collect();
    all.sort_unstable();
    all.dedup();
    let vectors = Vectors::embed(Named::Minilm, &settings, &all)?;
    for (line, (a, b)) in lines.iter_mut().zip(&texts) {
        let both = vectors.of(a).zip(vectors.of(b));
        let (a, b) = both.ok_or("a text without a vector")?;
        line.similarity = (cosine(a, b) * 1e6).round() / 1e6;
        println!("{}", serde_json::to_string(line)?);
    }
    Ok(())
}

fn text(value: &Value) -> Result<Arc<str>, BoxError> {
    let text: Text = serde_json::from_value(value.clone())?;
    Ok(text.joined().into())
}
