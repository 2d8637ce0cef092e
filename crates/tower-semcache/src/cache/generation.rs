use std::sync::atomic::{AtomicU64, Ordering};

use crate::scope::Scope;

/// Counts purges, so that an answer begun before one is not stored after it.
///
/// A purge of one scope counts for all scopes of its bucket. Their answers in flight are then
/// dropped too: that costs a store, never a stale answer, and bounds the memory.
#[derive(Debug)]
pub(crate) struct Generations {
    all: AtomicU64,
    buckets: Box<[AtomicU64]>,
}

/// When a request began, in purges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    all: u64,
    bucket: u64,
}

const BUCKETS: usize = 1_024;

// === impl Generations ===

impl Generations {
    pub(crate) fn new() -> Self {
        let buckets = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        Self {
            all: AtomicU64::new(0),
            buckets,
        }
    }

    /// The generation of this scope now.
    pub(crate) fn of(&self, scope: &Scope) -> Generation {
        Generation {
            all: self.all.load(Ordering::SeqCst),
            bucket: self
                .bucket(scope)
                .map_or(0, |bucket| bucket.load(Ordering::SeqCst)),
        }
    }

    pub(crate) fn advance_all(&self) {
        self.all.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn advance(&self, scope: &Scope) {
        if let Some(bucket) = self.bucket(scope) {
            bucket.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn bucket(&self, scope: &Scope) -> Option<&AtomicU64> {
        self.buckets.get(scope.bucket(BUCKETS))
    }
}
