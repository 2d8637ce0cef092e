//! What a trace is like.

use std::collections::HashSet;

use serde::Serialize;

use super::Trace;
use crate::{metrics::percentile, workload::Prefix};

/// Statistics of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceStats {
    /// The trace.
    pub name: String,
    /// Requests.
    pub requests: usize,
    /// First to last arrival, seconds.
    pub span_s: f64,
    /// Requests a second.
    pub rate_rps: f64,
    /// The most arrivals in any second.
    pub peak_rps: f64,
    /// Coefficient of variation of the gaps between arrivals: 1 for Poisson.
    pub gap_variation: f64,
    /// Variance over mean of the arrivals in 10 s: 1 for Poisson, above it bursts.
    pub dispersion_10s: f64,
    /// Prompt lengths, tokens.
    pub prompt: Lengths,
    /// Output lengths, tokens.
    pub output: Lengths,
    /// Share of requests that are exactly an earlier one; `None` where the trace does not say.
    pub duplicates: Option<f64>,
    /// Share of prompt blocks that an earlier request had as well, in the same place after the
    /// same beginning; `None` where the trace does not say.
    pub prefix_reuse: Option<f64>,
}

/// A distribution of lengths, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lengths {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Longest.
    pub max: f64,
}

impl Lengths {
    fn of(lengths: impl Iterator<Item = u32>) -> Self {
        let mut lengths: Vec<f64> = lengths.map(f64::from).collect();
        lengths.sort_by(f64::total_cmp);
        let at = |q| percentile(&lengths, q);
        Self {
            mean: lengths.iter().sum::<f64>() / lengths.len().max(1) as f64,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        }
    }
}

impl Trace {
    /// Its statistics.
    #[must_use]
    pub fn stats(&self) -> TraceStats {
        let arrivals: Vec<f64> = self
            .requests
            .iter()
            .map(|request| request.arrival_ms)
            .collect();
        let gaps: Vec<f64> = arrivals
            .windows(2)
            .map(|pair| {
                pair.iter()
                    .rev()
                    .copied()
                    .reduce(|b, a| b - a)
                    .unwrap_or(0.0)
            })
            .collect();
        let (mean_gap, gap_variance) = moments(&gaps);
        let (mean_10s, variance_10s) = moments(&counts(&arrivals, 10_000.0));
        let (duplicates, prefix_reuse) = self.repeats().unzip();
        TraceStats {
            name: self.name.clone(),
            requests: self.requests.len(),
            span_s: arrivals.last().copied().unwrap_or(0.0) / 1000.0,
            rate_rps: self.rate_rps(),
            peak_rps: counts(&arrivals, 1000.0).into_iter().fold(0.0, f64::max),
            gap_variation: gap_variance.sqrt() / mean_gap,
            dispersion_10s: variance_10s / mean_10s,
            prompt: Lengths::of(self.requests.iter().map(|request| request.prompt_tokens)),
            output: Lengths::of(self.requests.iter().map(|request| request.output_tokens)),
            duplicates,
            prefix_reuse,
        }
    }

    /// Shares of repeated requests and of repeated prefix blocks.
    fn repeats(&self) -> Option<(f64, f64)> {
        let (mut keys, mut prefixes) = (HashSet::new(), HashSet::new());
        let (mut duplicates, mut blocks, mut reused) = (0_u64, 0_u64, 0_u64);
        for request in &self.requests {
            let Prefix::Blocks { ids, .. } = &request.prefix else {
                return None;
            };
            duplicates += u64::from(!keys.insert(request.key));
            // A number names a block together with everything before it.
            for id in ids.iter() {
                blocks += 1;
                reused += u64::from(!prefixes.insert(*id));
            }
        }
        let requests = self.requests.len().max(1) as f64;
        Some((
            duplicates as f64 / requests,
            reused as f64 / blocks.max(1) as f64,
        ))
    }
}

/// Arrivals in each window.
fn counts(arrivals: &[f64], window_ms: f64) -> Vec<f64> {
    let mut counts = Vec::new();
    for arrival in arrivals {
        let at = (arrival / window_ms) as usize;
        if at >= counts.len() {
            counts.resize(at + 1, 0.0);
        }
        if let Some(count) = counts.get_mut(at) {
            *count += 1.0;
        }
    }
    counts
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (
        mean,
        values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / n,
    )
}
