use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use super::generation::Generation;
use super::insert::Insert;
use super::store::Cache;
use crate::lookup::Lookup;
use crate::outcome::Outcome;
use crate::semantic::Trial;
use crate::vector::{Unit, Vector};
use crate::weigh::Weigh;

/// The right to store the answer to one request, once.
///
/// It remembers when the request began: after a purge in between, nothing is stored. Dropped
/// without a word it counts as an answer that never ended.
pub struct Commit<V> {
    /// `None` once used.
    pending: Option<Pending<V>>,
    /// Bytes reserved among the recordings in flight.
    reserved: usize,
}

struct Pending<V> {
    cache: Cache<V>,
    lookup: Lookup,
    generation: Generation,
    began: Instant,
    vector: Option<Unit>,
    ttl: Option<Duration>,
    sequel: Sequel<V>,
    outcome: Outcome,
}

/// What comes after an answer is stored.
pub(crate) enum Sequel<V> {
    /// Nothing.
    None,
    /// Its entry is put in this cluster.
    Cluster(u64),
    /// It is compared with the answer that might have been served.
    Trial(Trial<V>),
}

/// Why an answer was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Larger than one entry may be.
    TooLarge,
    /// Begun before a purge.
    Purged,
    /// Begun before the answer that is stored: whoever asked for a fresh one meanwhile keeps it.
    Superseded,
    /// Cut off, failed, or left by the caller before its end.
    Unfinished,
    /// Ended, but not whole or not a success.
    Incomplete,
    /// Forbidden by whoever answered, or out of life before it began.
    Forbidden,
    /// Too many bytes are being recorded at once.
    Busy,
}

// === impl Commit ===

impl<V> Commit<V> {
    pub(crate) fn new(
        cache: Cache<V>,
        lookup: Lookup,
        generation: Generation,
        vector: Option<Unit>,
    ) -> Self {
        let pending = Pending {
            cache,
            lookup,
            generation,
            began: Instant::now(),
            vector,
            ttl: None,
            sequel: Sequel::None,
            outcome: Outcome::Miss,
        };
        Self {
            pending: Some(pending),
            reserved: 0,
        }
    }

    /// Says what comes after.
    pub(crate) fn then(mut self, sequel: Sequel<V>) -> Self {
        if let Some(pending) = &mut self.pending {
            pending.sequel = sequel;
        }
        self
    }

    /// Says what the response says of itself.
    pub(crate) fn said(mut self, outcome: Outcome) -> Self {
        if let Some(pending) = &mut self.pending {
            pending.outcome = outcome;
        }
        self
    }

    /// Where the answer comes from: from the inner service, and whether a similar one would have done.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.pending
            .as_ref()
            .map_or(Outcome::Miss, |pending| pending.outcome)
    }

    /// The bytes one entry may have.
    #[must_use]
    pub fn max_entry_bytes(&self) -> usize {
        self.pending
            .as_ref()
            .map_or(0, |pending| pending.cache.max_entry_bytes())
    }

    /// Shortens the life of the entry; never prolongs it.
    #[must_use]
    pub fn max_ttl(mut self, ttl: Duration) -> Self {
        if let Some(pending) = &mut self.pending {
            pending.ttl = Some(pending.ttl.map_or(ttl, |old| old.min(ttl)));
        }
        self
    }

    /// The vector of the request's text, so that similar requests find the answer.
    ///
    /// One without a direction (empty, zero, not finite) is counted, and no request finds it.
    #[must_use]
    pub fn vector(mut self, vector: Vector) -> Self {
        if let Some(pending) = &mut self.pending {
            pending.vector = Unit::new(vector);
            if pending.vector.is_none() {
                pending.cache.counters().embeddings_invalid.add(1);
            }
        }
        self
    }

    /// Reserves memory for an answer that arrives in pieces, beyond what is reserved already.
    ///
    /// All recordings in flight together may hold as many bytes as the store itself.
    ///
    /// # Errors
    ///
    /// [`Refusal::TooLarge`] when this answer could no longer be stored, [`Refusal::Busy`] when all
    /// recordings together would hold too much. Give the commit up with that reason.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Refusal> {
        let Some(pending) = &self.pending else {
            return Err(Refusal::TooLarge);
        };
        if self.reserved.saturating_add(bytes) > pending.cache.max_entry_bytes() {
            return Err(Refusal::TooLarge);
        }
        if !pending.cache.reserve(bytes) {
            return Err(Refusal::Busy);
        }
        self.reserved += bytes;
        Ok(())
    }

    /// Stores the whole answer, at once: when this returns, a look-up finds it.
    ///
    /// # Errors
    ///
    /// The reason why it was not stored, which has been counted.
    pub fn store(mut self, value: V) -> Result<(), Refusal>
    where
        V: Weigh,
    {
        let Some(pending) = self.pending.take() else {
            return Err(Refusal::Unfinished);
        };
        self.release(&pending.cache);
        let Pending {
            cache,
            lookup,
            generation,
            began,
            vector,
            ttl,
            sequel,
            outcome: _,
        } = pending;
        let stored = cache.insert_with(Insert {
            lookup,
            value,
            generation,
            began,
            vector: vector.as_ref(),
            ttl,
        })?;
        match sequel {
            Sequel::None => {}
            Sequel::Cluster(cluster) => {
                cache.set_cluster(stored.entry(), cluster);
            }
            Sequel::Trial(trial) => trial.answered(stored),
        }
        Ok(())
    }

    /// Gives up and counts why.
    pub fn refuse(mut self, reason: Refusal) {
        if let Some(pending) = self.pending.take() {
            self.release(&pending.cache);
            pending.cache.counters().refused(reason);
        }
    }

    fn release(&mut self, cache: &Cache<V>) {
        cache.release(std::mem::take(&mut self.reserved));
    }
}

// === impl Sequel ===

impl<V> Sequel<V> {
    /// Whether an audit hangs on the answer: one that never comes counts as a wrong one.
    pub(crate) fn is_audit(&self) -> bool {
        matches!(self, Self::Trial(trial) if trial.is_audit())
    }
}

impl<V> Drop for Commit<V> {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            self.release(&pending.cache);
            pending.cache.counters().refused(Refusal::Unfinished);
        }
    }
}

impl<V> fmt::Debug for Commit<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lookup = self.pending.as_ref().map(|pending| &pending.lookup);
        f.debug_struct("Commit")
            .field("lookup", &lookup)
            .field("reserved", &self.reserved)
            .finish_non_exhaustive()
    }
}
