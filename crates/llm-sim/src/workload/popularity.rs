//! Which of many prompts is asked: Zipf's law.

use crate::rng::PyRandom;

/// Zipf's law over ranks `0..n`: the weight of rank r is (r + 1)^−s.
#[derive(Clone, Debug)]
pub struct Zipf {
    cumulative: Vec<f64>,
}

impl Zipf {
    /// A law over `n` prompts with exponent `s`.
    #[must_use]
    pub fn new(n: usize, s: f64) -> Self {
        let mut sum = 0.0;
        let cumulative = (1..=n)
            .map(|rank| {
                sum += (rank as f64).powf(-s);
                sum
            })
            .collect();
        Self { cumulative }
    }

    /// A rank, 0 the most popular.
    pub fn draw(&self, random: &mut PyRandom) -> u64 {
        let total = self.cumulative.last().copied().unwrap_or(0.0);
        let at = random.uniform() * total;
        self.cumulative.partition_point(|sum| *sum <= at) as u64
    }

    /// The share of requests that go to the `k` most popular prompts: what a perfect cache of `k`
    /// entries can answer in the long run.
    #[must_use]
    pub fn share(&self, k: usize) -> f64 {
        let total = self.cumulative.last().copied().unwrap_or(1.0);
        match k.min(self.cumulative.len()).checked_sub(1) {
            Some(last) => self.cumulative.get(last).copied().unwrap_or(total) / total,
            None => 0.0,
        }
    }
}
