//! What the fronts have done.

use super::Front;

/// Counts of all the fronts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Answered from the cache by an equal question's answer.
    pub hits: u64,
    /// Answered from the cache by a similar question's answer.
    pub semantic_hits: u64,
    /// Looked up and not found.
    pub misses: u64,
    /// Answers that left the cache because their life was over.
    pub expired: u64,
    /// Answers that left the cache for room.
    pub evicted: u64,
    /// The greatest age of an answer that was served, in milliseconds.
    pub oldest_hit_ms: f64,
    /// Requests that began a flight.
    pub leaders: u64,
    /// Requests that joined a flight.
    pub followers: u64,
    /// Turned away because the queue was full.
    pub shed: u64,
    /// Turned away because they had waited too long.
    pub timed_out: u64,
    /// Most requests ever admitted at once.
    pub admitted_peak: u64,
    /// Batches sent.
    pub batches: u64,
    /// Requests handed to servers, hedges included.
    pub dispatched: u64,
    /// Second copies sent.
    pub hedges: u64,
    /// Second copies whose first token came first.
    pub hedges_won: u64,
    /// Second copies that the budget forbade.
    pub hedges_denied: u64,
}

impl Tally {
    /// The counts of a front and of all within it.
    pub fn of(front: &(impl Front + ?Sized)) -> Self {
        let mut tally = Self::default();
        front.tally(&mut tally);
        tally
    }
}
