//! The answer to a question about capacity.

use serde::Serialize;

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Requests a second that one replica can take at all.
    pub capacity_rps: f64,
    /// The fewest replicas that meet the target; `None` where even the most tried do not.
    pub replicas: Option<usize>,
    /// Every fleet that was simulated, by size.
    pub fleets: Vec<Fleet>,
    /// Where the time goes in the fleet of the answer (or the largest tried).
    pub budget: Vec<Stage>,
    /// What would happen if.
    pub what_if: Vec<(String, Fleet)>,
}

/// A simulated fleet; times in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Fleet {
    /// Replicas.
    pub replicas: usize,
    /// Share of the requests that the cache answers.
    pub hit_rate: f64,
    /// Requests a second, hits included.
    pub rate_rps: f64,
    /// Load over capacity, ρ.
    pub utilisation: f64,
    /// Whether the target is met; false without a run where ρ ≥ 1.
    pub meets: bool,
    /// Median of arrival to last token.
    pub e2e_p50_ms: f64,
    /// Its 99th percentile.
    pub e2e_p99_ms: f64,
    /// 99th percentile of the time to the first token.
    pub ttft_p99_ms: f64,
    /// 99th percentile of the time a token.
    pub tpot_p99_ms: f64,
    /// Share of the requests within the limits.
    pub goodput: f64,
    /// Output tokens a second, those of hits included.
    pub output_tokens_per_s: f64,
    /// The price of a million output tokens; of the fleet's hour over the tokens of that hour.
    pub price_per_million_tokens: Option<f64>,
}

/// A row of the budget, over all requests: a stage that a request skips costs it nothing.
///
/// Means add up to the mean of the whole; percentiles do not, their sum is only a bound.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Stage {
    /// Which stage.
    pub stage: &'static str,
    /// Mean, milliseconds.
    pub mean_ms: f64,
    /// Median, milliseconds.
    pub p50_ms: f64,
    /// 99th percentile, milliseconds.
    pub p99_ms: f64,
    /// Share of the mean of the whole.
    pub share: f64,
}
