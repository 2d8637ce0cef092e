//! Laws of lengths, in whole tokens.

use crate::rng::PyRandom;

/// A law of lengths: a shape, rounded half to even, then clipped.
#[derive(Clone, Debug)]
pub struct Length {
    shape: Shape,
    min: u32,
    max: u32,
}

#[derive(Clone, Debug)]
enum Shape {
    Constant(f64),
    LogNormal {
        mu: f64,
        sigma: f64,
    },
    Exponential {
        mean: f64,
    },
    /// `low` with probability `p`, else `high`.
    TwoPoint {
        low: f64,
        high: f64,
        p: f64,
    },
    Sample(std::sync::Arc<[u32]>),
}

impl Length {
    /// The reference's prompts: median 300, σ 0.6, clipped to [16, 2048].
    pub const SEED_PROMPT: Self = Self {
        // ln 300, as Python's `math.log(300)` has it.
        shape: Shape::LogNormal {
            mu: 5.703_782_474_656_201,
            sigma: 0.6,
        },
        min: 16,
        max: 2048,
    };
    /// The reference's outputs: median 120, σ 0.9, clipped to [4, 1024].
    pub const SEED_OUTPUT: Self = Self {
        // ln 120, as Python's `math.log(120)` has it.
        shape: Shape::LogNormal {
            mu: 4.787_491_742_782_046,
            sigma: 0.9,
        },
        min: 4,
        max: 1024,
    };

    /// Always `tokens`.
    #[must_use]
    pub const fn constant(tokens: u32) -> Self {
        Self {
            shape: Shape::Constant(tokens as f64),
            min: tokens,
            max: tokens,
        }
    }

    /// Log-normal with the given median (tokens) and σ of the logarithm.
    #[must_use]
    pub fn log_normal(median: f64, sigma: f64, min: u32, max: u32) -> Self {
        Self {
            shape: Shape::LogNormal {
                mu: median.ln(),
                sigma,
            },
            min,
            max,
        }
    }

    /// Exponential with the given mean, rounded: the discrete form of memoryless lengths.
    #[must_use]
    pub const fn exponential(mean: f64, min: u32, max: u32) -> Self {
        Self {
            shape: Shape::Exponential { mean },
            min,
            max,
        }
    }

    /// `low` with probability `p`, else `high`.
    #[must_use]
    pub fn two_point(low: u32, high: u32, p: f64) -> Self {
        Self {
            shape: Shape::TwoPoint {
                low: f64::from(low),
                high: f64::from(high),
                p,
            },
            min: low.min(high),
            max: low.max(high),
        }
    }

    /// Drawn from a sample, each with the same weight; an empty sample gives 1.
    #[must_use]
    pub fn sample(sample: impl Into<std::sync::Arc<[u32]>>) -> Self {
        Self {
            shape: Shape::Sample(sample.into()),
            min: 1,
            max: u32::MAX,
        }
    }

    /// One length, in tokens.
    pub fn draw(&self, random: &mut PyRandom) -> u32 {
        let raw = match &self.shape {
            Shape::Constant(tokens) => *tokens,
            Shape::LogNormal { mu, sigma } => random.normal(*mu, *sigma).exp(),
            Shape::Exponential { mean } => random.exponential(1.0 / mean),
            Shape::TwoPoint { low, high, p } => {
                if random.uniform() < *p {
                    *low
                } else {
                    *high
                }
            }
            Shape::Sample(sample) => sample
                .get(random.below(sample.len()))
                .copied()
                .map_or(1.0, f64::from),
        };
        (raw.round_ties_even() as u32).clamp(self.min, self.max)
    }
}
