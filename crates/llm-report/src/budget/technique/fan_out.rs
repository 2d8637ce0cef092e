//! F19: who waits for ten answers meets the tail ten times as often.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Figure, Tolerance};
use llm_bench::measure::Sorted;
use llm_sim::rng::PyRandom;

const HOW: &str = "a million fan-outs to ten backends of exponential latency, drawn: the share that met at least one latency beyond the \
99th percentile of all ten million";
const FAN_OUTS: usize = 1_000_000;
const CALLS: usize = 10;

pub(super) fn measure() -> Result<Row, BoxError> {
    let mut random = PyRandom::from_text("report:fan-out");
    let calls: Vec<f64> = (0..FAN_OUTS * CALLS)
        .map(|_| random.exponential(1.0))
        .collect();
    let slowest: Vec<f64> = calls
        .chunks(CALLS)
        .map(|fan| fan.iter().copied().fold(0.0, f64::max))
        .collect();
    let p99 = Sorted::new(calls).quantile(0.99);
    let tail = slowest.iter().filter(|slowest| **slowest > p99).count();
    let share = tail as f64 / FAN_OUTS as f64 * 100.0;
    Ok(Row::new(
        "F19",
        "fan-out",
        Clock::Drawn,
        HOW,
        vec![Figure::new(
            "fan-outs of ten that meet the p99 tail",
            "%",
            9.56,
            share,
            Tolerance::Within(0.01),
        )],
    ))
}
