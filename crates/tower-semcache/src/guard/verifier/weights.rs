use std::fmt;

use super::features::{FEATURES, Features, NAMES};
use crate::guard::table;

/// One weight a feature, of a logistic regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights([f32; FEATURES]);

// === impl Weights ===

impl Weights {
    /// Trained on this project's own labelled set, `crates/llm-eval/data/labelled.jsonl`, by
    /// `cargo run -p tower-semcache --features guards --example train_verifier`.
    #[must_use]
    pub fn english() -> Self {
        Self::parse(include_str!("weights.txt"))
    }

    /// Weights in the order of [`NAMES`].
    #[must_use]
    pub const fn new(weights: [f32; FEATURES]) -> Self {
        Self(weights)
    }

    /// The weights, in the order of [`NAMES`].
    #[must_use]
    pub const fn as_array(&self) -> &[f32; FEATURES] {
        &self.0
    }

    /// How likely a pair with these features has the same answer.
    #[must_use]
    pub fn probability(&self, features: &Features) -> f32 {
        let pairs = self.0.iter().zip(features.as_array());
        let sum: f32 = pairs.map(|(weight, feature)| weight * feature).sum();
        1.0 / (1.0 + (-sum).exp())
    }

    /// A line a weight: the number, then the name.
    fn parse(file: &'static str) -> Self {
        let mut weights = [0.0; FEATURES];
        for line in table::lines(file) {
            let Some((value, name)) = line.split_once(' ') else {
                continue;
            };
            let slots = weights.iter_mut().zip(NAMES);
            for (weight, _) in slots.filter(|(_, known)| *known == name.trim()) {
                *weight = value.parse().unwrap_or(0.0);
            }
        }
        Self(weights)
    }
}

impl fmt::Display for Weights {
    /// As `weights.txt` has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (weight, name) in self.0.iter().zip(NAMES) {
            writeln!(f, "{weight:.4} {name}")?;
        }
        Ok(())
    }
}
