//! The latencies of a run.

use super::Sketch;
use crate::server::Completion;

/// What a request must meet to count as good.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time to the first token, in milliseconds.
    pub ttft_ms: f64,
    /// Time a token after it, in milliseconds.
    pub tpot_ms: f64,
}

impl Default for Limits {
    /// 500 ms to the first token, 50 ms a token.
    fn default() -> Self {
        Self {
            ttft_ms: 500.0,
            tpot_ms: 50.0,
        }
    }
}

/// Latencies of finished requests, in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    /// Arrival to last token.
    pub e2e: Sketch,
    /// Arrival to first token.
    pub ttft: Sketch,
    /// Time a token after the first, of requests with more than one.
    pub tpot: Sketch,
    /// Arrival to first seat.
    pub queue: Sketch,
    /// Requests within the limits.
    pub good: u64,
}

impl Latency {
    /// Counts a finished request.
    pub fn add(&mut self, done: &Completion, limits: &Limits) {
        let (ttft, tpot) = (done.ttft_ms(), done.tpot_ms());
        self.e2e.add(done.e2e_ms(), 1);
        self.ttft.add(ttft, 1);
        self.queue
            .add(done.scheduled_ms - done.request.arrival_ms, 1);
        if let Some(tpot) = tpot {
            self.tpot.add(tpot, 1);
        }
        if ttft <= limits.ttft_ms && tpot.is_none_or(|tpot| tpot <= limits.tpot_ms) {
            self.good += 1;
        }
    }

    /// Adds what `other` has counted.
    pub fn merge(&mut self, other: &Self) {
        self.e2e.merge(&other.e2e);
        self.ttft.merge(&other.ttft);
        self.tpot.merge(&other.tpot);
        self.queue.merge(&other.queue);
        self.good += other.good;
    }

    /// The share of finished requests within the limits.
    #[must_use]
    pub fn goodput(&self) -> f64 {
        self.good as f64 / (self.e2e.count().max(1)) as f64
    }
}
