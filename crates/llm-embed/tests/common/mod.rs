//! Where the model is, and what its vectors say.

use std::path::PathBuf;

use llm_embed::minilm::{MiniLm, Precision};
use tower_semcache::Vector;

/// Questions, commands, code, languages, numbers and odds and ends, of 1 to 80 tokens.
pub(crate) fn texts() -> Vec<&'static str> {
    include_str!("texts.txt").lines().collect()
}

/// The model as it is published, or a line that says that the test is skipped.
pub(crate) fn model() -> Option<MiniLm> {
    load(Precision::Fp32, 1)
}

/// The model in either precision, or a line that says that the test is skipped.
pub(crate) fn models() -> impl Iterator<Item = MiniLm> {
    let precisions = [Precision::Fp32, Precision::Int8].into_iter();
    precisions.map_while(|precision| load(precision, 1))
}

/// The model, or a line that says that the test is skipped.
pub(crate) fn load(precision: Precision, threads: usize) -> Option<MiniLm> {
    let folder = std::env::var_os("LLM_FRONT_MODEL").map_or_else(beside, PathBuf::from);
    if folder.join("model.safetensors").exists() {
        let builder = MiniLm::builder().precision(precision).threads(threads);
        return Some(builder.load(&folder).expect("a model"));
    }
    eprintln!(
        "SKIPPED: no model in {}: run `cargo xtask model fetch`, or set LLM_FRONT_MODEL",
        folder.display()
    );
    None
}

fn beside() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/all-MiniLM-L6-v2")
}

pub(crate) fn cosine(one: &Vector, two: &Vector) -> f64 {
    let pairs = one.as_slice().iter().zip(two.as_slice());
    pairs.map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
}
