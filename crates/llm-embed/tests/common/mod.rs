//! Where the model is, and what its vectors say.

use std::path::PathBuf;

use llm_embed::minilm::MiniLm;
use tower_semcache::Vector;

/// The model, or a line that says that the test is skipped.
pub(crate) fn model() -> Option<MiniLm> {
    let folder = std::env::var_os("LLM_FRONT_MODEL").map_or_else(beside, PathBuf::from);
    if folder.join("model.safetensors").exists() {
        return Some(MiniLm::load(&folder).expect("a model"));
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
