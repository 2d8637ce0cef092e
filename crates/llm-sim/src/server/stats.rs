//! Counters of a server, flat in the number of requests.

use crate::metrics::{Series, Sketch};

/// What a server has done.
#[derive(Clone, Debug, Default)]
pub struct ServerStats {
    /// Steps run.
    pub steps: u64,
    /// Time in steps, in milliseconds.
    pub busy_ms: f64,
    /// Σ over steps of the sequences in them.
    pub seats: u64,
    /// Output tokens made.
    pub output_tokens: u64,
    /// Prompt tokens computed, recomputation after preemption included.
    pub prefill_tokens: u64,
    /// Prompt tokens found in the prefix cache.
    pub cached_tokens: u64,
    /// Prompt tokens looked up in the prefix cache.
    pub looked_up_tokens: u64,
    /// Preemptions.
    pub preemptions: u64,
    /// Most KV blocks ever in use.
    pub kv_peak: u32,
    /// Gaps between two tokens of a sequence, in milliseconds.
    pub itl: Sketch,
    /// Over time: waiting, running, KV share in use, preemptions so far.
    pub series: Option<Series<4>>,
}

impl ServerStats {
    /// Sequences a step, on average over the steps.
    ///
    /// Over time the average is higher, because full steps are longer: at 8 requests a second the
    /// reference's server has 52 % of its 32 seats in use over the steps, and 55 % over time.
    #[must_use]
    pub fn mean_seats(&self) -> f64 {
        self.seats as f64 / (self.steps.max(1)) as f64
    }

    /// The share of looked-up prompt tokens that the prefix cache held.
    #[must_use]
    pub fn prefix_hit_rate(&self) -> f64 {
        self.cached_tokens as f64 / (self.looked_up_tokens.max(1)) as f64
    }
}
