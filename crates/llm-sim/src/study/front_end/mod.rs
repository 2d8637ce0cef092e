//! What the front end is worth: experiments on single flight, caching, balancing, hedging and
//! admission, and on the servers' own scheduling beside them.
//!
//! Everything runs on the reference's accelerator ([`Affine::SEED`](crate::cost::Affine::SEED), 32
//! seats) and its lengths, so that the experiments can be read side by side. Variants of one
//! experiment see the same arrivals, seed by seed: what differs between them is not chance. The first
//! tenth of a run does not count towards latencies, unless the start itself is the point.
//!
//! A prototype in another language made indicative figures, with one seed. They stand beside ours;
//! where the two differ, the experiment's note says why.

mod batching;
mod hedging;
mod overload;
mod replicas;
mod run;
mod savings;
mod scheduling;
mod sharing;

use serde::Serialize;

pub use self::{
    run::Plan,
    savings::{Savings, savings},
};
use crate::metrics::Interval;

/// One experiment: what is compared, and what came out.
#[derive(Clone, Debug, Serialize)]
pub struct Experiment {
    /// How the command line calls it.
    pub name: &'static str,
    /// What is asked.
    pub title: &'static str,
    /// The setting, in words.
    pub setting: &'static str,
    /// Requests a run.
    pub requests: usize,
    /// What to make of it, and why it differs from the prototype where it does.
    pub note: &'static str,
    /// One row a variant.
    pub rows: Vec<Row>,
}

/// One variant of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is different.
    pub variant: String,
    /// What was measured.
    pub measures: Vec<Measure>,
}

/// A figure, beside the prototype's.
#[derive(Clone, Debug, Serialize)]
pub struct Measure {
    /// What it is, with its unit.
    pub name: &'static str,
    /// The mean over the seeds, with its 95 % interval.
    pub ours: Interval,
    /// The prototype's figure (one seed).
    pub prototype: Option<f64>,
}

/// How an experiment is run.
pub type Run = fn(&Plan) -> Experiment;

/// Every experiment, by name.
pub const ALL: [(&str, Run); 11] = [
    ("chunk-budget", scheduling::chunk_budget),
    ("kv-capacity", scheduling::kv_capacity),
    ("kv-cliff", scheduling::kv_cliff),
    ("shared-prefix", scheduling::shared_prefix),
    ("balancing", replicas::balancing),
    ("slow-replica", replicas::slow_replica),
    ("hedging", hedging::stalls),
    ("hedging-overload", hedging::overload),
    ("zipf", sharing::zipf),
    ("admission", overload::admission),
    ("batching", batching::embeddings),
];
