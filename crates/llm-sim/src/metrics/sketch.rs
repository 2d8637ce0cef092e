//! A mergeable histogram with a bounded relative error.

/// Counts in buckets whose width grows by 0.2 %: every quantile is within 0.1 % of the exact one.
///
/// Merging two sketches gives the sketch of both samples together. Its size depends on the range
/// of the values (some 700 buckets a decade between the least and the greatest), not on their
/// number. Values below 10⁻⁶ count as 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    buckets: Vec<u64>,
    /// The number of the first bucket.
    first: i32,
    zeros: u64,
    count: u64,
    sum: f64,
    squares: f64,
    max: f64,
    /// Consecutive equal values cost one addition: the last value, and its bucket.
    last: (f64, i32),
}

const GROWTH_LN: f64 = 0.002;
const LEAST: f64 = 1e-6;

impl Sketch {
    /// Adds `value` `times` times.
    pub fn add(&mut self, value: f64, times: u64) {
        if times == 0 {
            return;
        }
        self.count += times;
        let weight = times as f64;
        self.sum += value * weight;
        self.squares += value * value * weight;
        self.max = self.max.max(value);
        if value < LEAST {
            self.zeros += times;
            return;
        }
        if self.last.0.to_bits() != value.to_bits() {
            self.last = (value, (value.ln() / GROWTH_LN).floor() as i32);
        }
        *self.bucket(self.last.1) += times;
    }

    fn bucket(&mut self, number: i32) -> &mut u64 {
        if self.buckets.is_empty() {
            self.first = number;
        }
        if number < self.first {
            let missing = (self.first - number) as usize;
            self.buckets.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = number;
        }
        let at = (number - self.first) as usize;
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        self.buckets
            .get_mut(at)
            .expect("the buckets were extended to hold this one")
    }

    /// Adds everything that `other` has counted.
    pub fn merge(&mut self, other: &Self) {
        for (at, count) in other
            .buckets
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            *self.bucket(other.first + at as i32) += count;
        }
        self.zeros += other.zeros;
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.max = self.max.max(other.max);
    }

    /// Values counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Σ of the values.
    #[must_use]
    pub const fn sum(&self) -> f64 {
        self.sum
    }

    /// The mean, exact; 0 for nothing.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum / (self.count.max(1)) as f64
    }

    /// The variance, exact up to rounding.
    #[must_use]
    pub fn variance(&self) -> f64 {
        (self.squares / (self.count.max(1)) as f64 - self.mean().powi(2)).max(0.0)
    }

    /// The greatest value, exact.
    #[must_use]
    pub const fn max(&self) -> f64 {
        self.max
    }

    /// The q-quantile, within 0.1 %; 0 for nothing.
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        let rank = (self.count.saturating_sub(1) as f64 * q).round_ties_even() as u64;
        let mut seen = self.zeros;
        if rank < seen || self.count == 0 {
            return 0.0;
        }
        for (at, count) in self.buckets.iter().enumerate() {
            seen += count;
            if rank < seen {
                let middle = (f64::from(self.first + at as i32) + 0.5) * GROWTH_LN;
                return middle.exp().min(self.max);
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{metrics::percentile, rng::PyRandom};

    #[test]
    fn quantiles_are_within_a_thousandth_and_merging_is_pooling() {
        let mut random = PyRandom::from_text("sketch");
        let (mut a, mut b, mut pooled) = (Sketch::default(), Sketch::default(), Sketch::default());
        let mut exact = Vec::new();
        for i in 0..20_000 {
            let value = random.normal(3.0, 1.5).exp();
            exact.push(value);
            pooled.add(value, 1);
            if i % 3 == 0 { &mut a } else { &mut b }.add(value, 1);
        }
        exact.sort_by(f64::total_cmp);
        a.merge(&b);
        for q in [0.01, 0.5, 0.95, 0.999] {
            let (want, got) = (percentile(&exact, q), pooled.quantile(q));
            assert!(
                (got / want - 1.0).abs() <= 0.0011,
                "q {q}: {got} for {want}"
            );
            assert_eq!(a.quantile(q).to_bits(), got.to_bits());
        }
    }
}
