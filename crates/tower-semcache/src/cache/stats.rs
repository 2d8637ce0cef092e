use std::sync::atomic::{AtomicU64, Ordering};

use super::commit::Refusal;
use crate::outcome::Detail;

/// A snapshot of the counters of a [`Cache`](super::Cache). All but the three gauges only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Gauge: stored answers, those expired and not yet met included.
    pub entries: usize,
    /// Gauge: bytes held, overheads included.
    pub bytes: usize,
    /// Gauge: vectors in the index.
    pub vectors: usize,
    /// Requests answered by an equal one's answer.
    pub hits_exact: u64,
    /// Requests answered by a similar one's answer.
    pub hits_semantic: u64,
    /// Requests that a similar one's answer would have served, were it not for
    /// [`Mode::Shadow`](crate::Mode::Shadow). They are misses, too.
    pub hits_shadow: u64,
    /// Requests with a look-up that went to the inner service.
    pub misses: u64,
    /// Requests that wanted a stored answer or nothing, and got nothing.
    pub not_cached: u64,
    /// Requests without a look-up.
    pub bypassed: u64,
    /// Answers stored.
    pub stored: u64,
    /// Answers not stored: larger than one entry may be.
    pub refused_too_large: u64,
    /// Answers not stored: begun before a purge.
    pub refused_purged: u64,
    /// Answers not stored: begun before the one that is stored.
    pub refused_superseded: u64,
    /// Answers not stored: cut off, failed, or left by the caller before their end.
    pub refused_unfinished: u64,
    /// Answers not stored: ended, but not whole or not a success.
    pub refused_incomplete: u64,
    /// Answers not stored: the inner service forbids it, or nothing of their life is left.
    pub refused_forbidden: u64,
    /// Answers not stored: recordings in flight already hold as many bytes as the store may.
    pub refused_busy: u64,
    /// Entries that left for room.
    pub evicted: u64,
    /// Entries that left because their life was over.
    pub expired: u64,
    /// Entries that left by a purge or a removal.
    pub purged: u64,
    /// Texts embedded, whatever came of it.
    pub embeddings: u64,
    /// Embeddings that failed.
    pub embeddings_failed: u64,
    /// Embeddings that were not there in time.
    pub embeddings_late: u64,
    /// Embeddings without a direction (zero, or not finite), or of another length than the rest.
    pub embeddings_invalid: u64,
    /// Candidates that a guard rejected.
    pub guard_rejected: u64,
}

macro_rules! counters {
    ($($name:ident),* $(,)?) => {
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }

        impl Counters {
            pub(crate) fn read(&self) -> Stats {
                Stats { $($name: self.$name.get(),)* ..Stats::default() }
            }
        }
    };
}

counters! {
    hits_exact, hits_semantic, hits_shadow, misses, not_cached, bypassed, stored,
    refused_too_large, refused_purged, refused_unfinished, refused_incomplete, refused_forbidden,
    refused_busy, refused_superseded,
    evicted, expired, purged,
    embeddings, embeddings_failed, embeddings_late, embeddings_invalid, guard_rejected,
}

/// One number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

// === impl Counters ===

impl Counters {
    pub(crate) fn hit(&self, detail: Detail) {
        match detail {
            Detail::Exact => &self.hits_exact,
            Detail::Semantic { .. } => &self.hits_semantic,
        }
        .add(1);
    }

    pub(crate) fn refused(&self, reason: Refusal) {
        match reason {
            Refusal::TooLarge => &self.refused_too_large,
            Refusal::Purged => &self.refused_purged,
            Refusal::Superseded => &self.refused_superseded,
            Refusal::Unfinished => &self.refused_unfinished,
            Refusal::Incomplete => &self.refused_incomplete,
            Refusal::Forbidden => &self.refused_forbidden,
            Refusal::Busy => &self.refused_busy,
        }
        .add(1);
    }
}

// === impl Counter ===

impl Counter {
    pub(crate) fn add(&self, n: usize) {
        self.0.fetch_add(n as u64, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
