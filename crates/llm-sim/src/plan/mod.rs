//! How many replicas does it take?
//!
//! [`answer`] finds the fewest replicas that meet a [`Target`], and says where the time goes, what
//! would happen if, and what it costs.

mod answer;
mod search;

use std::fmt;

pub use self::{
    answer::{Answer, Fleet, Stage},
    search::answer,
};
use crate::{front::Balance, metrics::Limits, server::Server, workload::Request};

/// What is measured against the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Arrival to last token.
    #[default]
    EndToEnd,
    /// Arrival to first token.
    FirstToken,
    /// Time a token after the first.
    PerToken,
}

/// What has to hold.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Of what.
    pub metric: Metric,
    /// Which quantile.
    pub quantile: f64,
    /// At most this, in milliseconds; `None` for no limit.
    pub limit_ms: Option<f64>,
    /// At least this share of the requests within [`Question::limits`]; `None` for no limit.
    pub goodput: Option<f64>,
}

/// A question about capacity.
pub struct Question<'a> {
    /// Makes one replica.
    pub server: &'a dyn Fn() -> Box<dyn Server>,
    /// Makes the requests at a load (requests a second): endless.
    pub workload: &'a dyn Fn(f64) -> Box<dyn Iterator<Item = Request> + 'a>,
    /// Requests a second.
    pub rate_rps: f64,
    /// What has to hold.
    pub target: Target,
    /// What counts as a good request.
    pub limits: Limits,
    /// The share of requests that a cache answers.
    pub hit_rate: f64,
    /// A look-up, in milliseconds; paid by hits and misses where there is a cache.
    pub lookup_ms: f64,
    /// How requests are dealt out to replicas.
    pub balance: Balance,
    /// The price of a replica, an hour.
    pub price_per_hour: Option<f64>,
    /// Requests a simulated run.
    pub requests: usize,
    /// The most replicas to try.
    pub most_replicas: usize,
}

impl fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("rate_rps", &self.rate_rps)
            .field("target", &self.target)
            .field("hit_rate", &self.hit_rate)
            .field("balance", &self.balance)
            .finish_non_exhaustive()
    }
}
