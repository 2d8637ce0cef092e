use std::fmt;

use super::features::{FEATURES, Features, NAMES};
use crate::guard::table;

/// One weight a feature, of a logistic regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights([f32; FEATURES]);

const FILE: &str = include_str!("weights.txt");

// === impl Weights ===

impl Weights {
    /// Trained on the dev half of this project's own labelled set, `crates/llm-eval/data/labelled.jsonl`,
    /// by `cargo xtask cache-eval --train`.
    #[must_use]
    pub fn english() -> Self {
        Self::parse(FILE)
    }

    /// From which probability on to accept with the [`english`](Self::english) weights.
    pub(super) fn least() -> f32 {
        let mut lines = table::lines(FILE).filter_map(|line| line.strip_suffix(" least"));
        lines.find_map(|least| least.parse().ok()).unwrap_or(1.0)
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
