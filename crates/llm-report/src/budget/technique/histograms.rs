//! F2: the percentile of a fleet is that of its merged histograms.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Figure, Tolerance};
use hdrhistogram::Histogram;
use llm_bench::measure::Sorted;
use llm_sim::rng::PyRandom;

const HOW: &str = "ten replicas of 100,000 log-normal latencies each (σ 0.3), nine with a median of 20 ms and one with 200 ms, \
each counted in a histogram of its own: the mean of the ten 99th percentiles beside that of the merged histograms, and this \
beside that of all million values sorted";
const REPLICAS: usize = 10;
const LATENCIES: usize = 100_000;
/// The histograms count microseconds.
const PER_MS: f64 = 1000.0;

pub(super) fn measure() -> Result<Row, BoxError> {
    let mut random = PyRandom::from_text("report:histograms");
    let (mut merged, mut pooled) = (histogram()?, Vec::new());
    let mut p99s = 0.0;
    for replica in 0..REPLICAS {
        let median_ms: f64 = if replica == 0 { 200.0 } else { 20.0 };
        let mut own = histogram()?;
        for _ in 0..LATENCIES {
            let ms = random.normal(median_ms.ln(), 0.3).exp();
            own.record((ms * PER_MS).round() as u64)?;
            pooled.push(ms);
        }
        p99s += p99_ms(&own);
        merged.add(&own)?;
    }
    let (mean, merged) = (p99s / REPLICAS as f64, p99_ms(&merged));
    let pooled = Sorted::new(pooled).quantile(0.99);
    Ok(Row::new(
        "F2",
        "mergeable histograms",
        Clock::Drawn,
        HOW,
        vec![
            Figure::new(
                "mean of the replicas' p99s",
                "ms",
                76.0,
                mean,
                Tolerance::Within(0.01),
            ),
            Figure::new(
                "p99 of the merged histograms",
                "ms",
                292.0,
                merged,
                Tolerance::Within(0.01),
            ),
            Figure::new(
                "the same, beside the pooled values",
                "ms",
                pooled,
                merged,
                Tolerance::Within(0.001),
            ),
        ],
    ))
}

/// One microsecond to one minute, three significant digits.
fn histogram() -> Result<Histogram<u64>, BoxError> {
    Ok(Histogram::new_with_bounds(1, 60_000_000, 3)?)
}

fn p99_ms(histogram: &Histogram<u64>) -> f64 {
    histogram.value_at_quantile(0.99) as f64 / PER_MS
}
