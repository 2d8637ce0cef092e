//! Histograms of latency that can be merged.

use hdrhistogram::Histogram as Hdr;
use std::time::Duration;

/// Three digits: a value is kept within 0.1 %.
const DIGITS: u8 = 3;

/// How many latencies lay where, in microseconds, each within 0.1 %. Those of several processes or replicas can be
/// [merged](Self::merge), which percentiles cannot.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram(Hdr<u64>);

impl Histogram {
    /// An empty one.
    #[must_use]
    #[expect(
        clippy::missing_panics_doc,
        reason = "three digits are within what the format allows (0 to 5)"
    )]
    pub fn new() -> Self {
        Self(Hdr::new(DIGITS).expect("three digits are within what the format allows (0 to 5)"))
    }

    pub(crate) const fn from_hdr(hdr: Hdr<u64>) -> Self {
        Self(hdr)
    }

    pub(crate) const fn hdr(&self) -> &Hdr<u64> {
        &self.0
    }

    /// Counts one.
    pub fn record(&mut self, latency: Duration) {
        // It grows as it must: only a value beyond u64 could be refused.
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX >> 1);
        let _ = self.0.record(micros);
    }

    /// Counts all that `other` has counted.
    pub fn merge(&mut self, other: &Self) {
        // It grows as it must.
        let _ = self.0.add(&other.0);
    }

    /// How many were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency that a share `q` of all do not exceed, in milliseconds; NaN without any.
    #[must_use]
    pub fn quantile_ms(&self, q: f64) -> f64 {
        match self.0.is_empty() {
            true => f64::NAN,
            false => self.0.value_at_quantile(q) as f64 / 1e3,
        }
    }

    /// The mean, in milliseconds; NaN without any.
    #[must_use]
    pub fn mean_ms(&self) -> f64 {
        match self.0.is_empty() {
            true => f64::NAN,
            false => self.0.mean() / 1e3,
        }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl FromIterator<Duration> for Histogram {
    fn from_iter<I: IntoIterator<Item = Duration>>(latencies: I) -> Self {
        let mut histogram = Self::new();
        latencies
            .into_iter()
            .for_each(|latency| histogram.record(latency));
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merged_is_pooled_and_within_a_thousandth_of_the_truth(
            parts in prop::collection::vec(prop::collection::vec(1_u64..100_000_000, 1..60), 1..5),
            q in 0.01_f64..1.0,
        ) {
            let mut merged = Histogram::new();
            for part in &parts {
                merged.merge(&part.iter().copied().map(Duration::from_micros).collect());
            }
            let mut pooled: Vec<u64> = parts.concat();
            pooled.sort_unstable();
            // The smallest value that a share q does not exceed.
            let rank = (q * pooled.len() as f64).ceil() as usize;
            let truth = pooled[rank.max(1) - 1] as f64 / 1e3;
            let measured = merged.quantile_ms(q);
            prop_assert_eq!(merged.count(), pooled.len() as u64);
            prop_assert!((measured / truth - 1.0).abs() <= 1e-3 + 1e-9, "{} for {}", measured, truth);
        }
    }
}
