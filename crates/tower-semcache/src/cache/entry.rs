use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::index::Slot;
use crate::outcome::{Detail, Outcome};
use crate::scope::{Digest, Scope};

/// Names one stored answer, in one store, for ever: an answer stored later in its place has another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryId {
    /// Unique in the life of a store; also the order of arrival.
    pub(crate) sequence: u64,
    pub(crate) key: Digest,
}

/// One stored answer. Immutable: whoever holds it needs no lock.
pub(crate) struct Entry<V> {
    pub(crate) id: EntryId,
    pub(crate) scope: Scope,
    pub(crate) canonical: Bytes,
    pub(crate) text: Option<Arc<str>>,
    pub(crate) value: V,
    pub(crate) stored: Instant,
    pub(crate) expires: Instant,
    /// All that this entry costs the store, its vector included.
    pub(crate) bytes: usize,
    /// Its row in the index, when it has a vector there.
    pub(crate) slot: Option<Arc<Slot>>,
}

/// A stored answer, found. Cheap to clone; holding it keeps only the answer alive.
pub struct Hit<V> {
    entry: Arc<Entry<V>>,
    detail: Detail,
    age: Duration,
}

// === impl EntryId ===

impl fmt::Debug for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EntryId").field(&self.sequence).finish()
    }
}

// === impl Entry ===

impl<V> Entry<V> {
    pub(crate) fn is_live(&self, now: Instant) -> bool {
        now < self.expires
    }

    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.stored)
    }

    pub(crate) fn remaining(&self, now: Instant) -> Duration {
        self.expires.saturating_duration_since(now)
    }
}

// === impl Hit ===

impl<V> Hit<V> {
    pub(crate) fn new(entry: Arc<Entry<V>>, detail: Detail, now: Instant) -> Self {
        let age = entry.age(now);
        Self { entry, detail, age }
    }

    /// The stored answer.
    #[must_use]
    pub fn value(&self) -> &V {
        &self.entry.value
    }

    /// How long ago it was stored.
    #[must_use]
    pub const fn age(&self) -> Duration {
        self.age
    }

    /// How the stored request matched.
    #[must_use]
    pub const fn detail(&self) -> Detail {
        self.detail
    }

    /// What a response made of this hit says about itself.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        Outcome::Hit {
            detail: self.detail,
            age: self.age,
        }
    }
}

impl<V> Clone for Hit<V> {
    fn clone(&self) -> Self {
        Self {
            entry: Arc::clone(&self.entry),
            detail: self.detail,
            age: self.age,
        }
    }
}

impl<V> fmt::Debug for Hit<V> {
    /// Does not show the answer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hit")
            .field("detail", &self.detail)
            .field("age", &self.age)
            .finish_non_exhaustive()
    }
}
