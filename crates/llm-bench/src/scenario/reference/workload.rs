//! What is sent, and what is kept of a run.

use super::{Batches, Counts};
use crate::measure::Source;
use std::time::Duration;

/// Requests of a run.
pub(super) const REQUESTS: usize = 80;

/// Callers, each with one request in flight.
pub(super) const CALLERS: usize = 16;

/// From a batch's first request to its dispatch, unless it is full before.
pub(super) const WINDOW: Duration = Duration::from_millis(6);

/// What the slowest caller waits with coalescing: the window, then a batch of 3.
pub(super) const LIMIT: Duration = Duration::from_millis(6 + 12 + 3 * 3);

/// How far the 95th percentile over sockets may be above [`LIMIT`].
pub(super) const TOLERANCE: f64 = 1.25;

/// From an answer to the caller's next request.
///
/// The answers of one batch come at one instant, but are read and stored one by one. Without a pause the first caller to have
/// his sends again while others of that instant are on their way, and whether he finds them in the cache or still in flight
/// is up to the scheduler, not to the gateway.
pub(super) const PAUSE: Duration = Duration::from_millis(3);

const PROMPTS: [&str; 4] = [
    "summarize checkout incident",
    "explain vector retrieval",
    "write a rollback checklist",
    "summarize checkout incident",
];

/// The body of request `number`.
pub(super) fn body(number: usize) -> String {
    let prompt = PROMPTS
        .get(number % PROMPTS.len())
        .copied()
        .unwrap_or_default();
    format!(r#"{{"prompt":"{prompt}"}}"#)
}

/// One answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) source: Source,
    pub(super) took: Duration,
}

/// One run of the load test.
#[derive(Clone, Debug)]
pub struct Run {
    /// What is exact.
    pub counts: Counts,
    /// From each request to the end of its answer.
    pub took: Vec<Duration>,
    /// From the first to the last send of the first 16 requests.
    pub spread: Duration,
}

impl Run {
    pub(super) fn new(answers: &[Answer], batches: Batches, spread: Duration) -> Self {
        let sources = answers.iter().map(|answer| answer.source).collect();
        let counts = Counts { sources, batches };
        Self {
            counts,
            took: answers.iter().map(|answer| answer.took).collect(),
            spread,
        }
    }

    /// Whether the first 16 requests came within one window, so that the batches must be exact.
    #[must_use]
    pub fn in_window(&self) -> bool {
        self.spread < WINDOW
    }
}
