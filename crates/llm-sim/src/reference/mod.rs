//! The reference's published table: three policies, ten loads, five metrics, three seeds.
//!
//! [`table`] computes it again, exactly as it was: the same random numbers, the same arithmetic,
//! the same rounding. `cargo xtask sim --preset seed` prints it and writes it to
//! `results/batching.json`; with `--check FILE` it is compared number by number.

mod check;

use serde::{Deserialize, Serialize};

pub use self::check::{Mismatch, check};
use crate::{
    cost::Affine,
    engine::Simulation,
    front::Direct,
    metrics::{percentile, round},
    server::{Completion, Continuous, Padding, Server, Static},
    workload::Workload,
};

/// The loads, in requests a second.
pub const LOADS: [f64; 10] = [0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0];
/// Requests a run.
pub const REQUESTS: usize = 1500;
/// The seeds.
pub const SEEDS: [u64; 3] = [0, 1, 2];
/// Seats of the accelerator.
pub const SEATS: u32 = 32;
/// The window of static batching, in milliseconds.
pub const WINDOW_MS: f64 = 6.0;
/// The limit on the 95th percentile that defines capacity, in seconds.
pub const LIMIT_S: f64 = 10.0;

/// A batching policy of the reference, and the un-padded one that it left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One request at a time.
    Sequential,
    /// Static batches, padded to their longest member.
    Static,
    /// Static batches that shrink; not in the reference's table.
    Unpadded,
    /// Continuous batching.
    Continuous,
}

impl Policy {
    /// The policies of the reference's table.
    pub const TABLE: [Self; 3] = [Self::Sequential, Self::Static, Self::Continuous];

    /// How the table calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Static => "static",
            Self::Unpadded => "static_unpadded",
            Self::Continuous => "continuous",
        }
    }

    /// A server with this policy.
    #[must_use]
    pub fn server(self) -> Box<dyn Server> {
        let cost = Affine::SEED;
        let seats = SEATS as usize;
        match self {
            Self::Sequential => Box::new(Static::sequential(cost)),
            Self::Static => Box::new(Static::new(seats, WINDOW_MS, Padding::Padded, cost)),
            Self::Unpadded => Box::new(Static::new(seats, WINDOW_MS, Padding::Unpadded, cost)),
            Self::Continuous => Box::new(Continuous::new(SEATS, cost)),
        }
    }
}

/// One row: one policy at one load, means over the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Offered load, requests a second.
    pub rate_rps: f64,
    /// Answered requests a second.
    pub throughput_rps: f64,
    /// Output tokens a second.
    pub output_tokens_per_s: f64,
    /// Median latency, seconds.
    pub latency_p50_s: f64,
    /// 95th percentile of latency, seconds.
    pub latency_p95_s: f64,
    /// Share of the seats in a step that make a wanted token.
    pub slot_utilisation: f64,
}

/// The rows of one policy, by load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The policy's name.
    pub policy: &'static str,
    /// A row a load.
    pub rows: Vec<Row>,
}

impl Curve {
    /// The largest load of the grid whose 95th percentile is within the limit.
    #[must_use]
    pub fn capacity(&self) -> Option<f64> {
        let within = |row: &&Row| row.latency_p95_s <= LIMIT_S;
        self.rows
            .iter()
            .filter(within)
            .map(|row| row.rate_rps)
            .reduce(f64::max)
    }
}

/// The whole table.
#[must_use]
pub fn table() -> Vec<Curve> {
    Policy::TABLE
        .into_iter()
        .map(|policy| Curve {
            policy: policy.name(),
            rows: LOADS.map(|load| row(policy, load)).to_vec(),
        })
        .collect()
}

/// One row of the table.
#[must_use]
pub fn row(policy: Policy, rate_rps: f64) -> Row {
    let runs = SEEDS.map(|seed| run(policy, rate_rps, seed));
    let mean = |metric: fn(&Row) -> f64| {
        round(runs.iter().map(metric).sum::<f64>() / runs.len() as f64, 3)
    };
    Row {
        rate_rps,
        throughput_rps: mean(|row| row.throughput_rps),
        output_tokens_per_s: mean(|row| row.output_tokens_per_s),
        latency_p50_s: mean(|row| row.latency_p50_s),
        latency_p95_s: mean(|row| row.latency_p95_s),
        slot_utilisation: mean(|row| row.slot_utilisation),
    }
}

/// One run, each metric rounded as the reference rounds it.
fn run(policy: Policy, rate_rps: f64, seed: u64) -> Row {
    let mut done: Vec<Completion> = Vec::with_capacity(REQUESTS);
    let mut sim = Simulation::new(vec![policy.server()], Direct::default());
    let report = sim.run_into(Workload::seed(seed, rate_rps).take(REQUESTS), &mut done);
    let mut latencies: Vec<f64> = done.iter().map(Completion::e2e_ms).collect();
    latencies.sort_by(f64::total_cmp);
    let used = sim.server_stats().next().map_or(1.0, |stats| match policy {
        // Each step of continuous batching makes a token for everyone in it.
        Policy::Continuous => 1.0,
        _ => stats.output_tokens as f64 / stats.seats as f64,
    });
    Row {
        rate_rps,
        throughput_rps: round(report.requests_per_s(), 3),
        output_tokens_per_s: round(report.tokens_per_s(), 1),
        latency_p50_s: round(percentile(&latencies, 0.5) / 1000.0, 3),
        latency_p95_s: round(percentile(&latencies, 0.95) / 1000.0, 3),
        slot_utilisation: round(used, 3),
    }
}
