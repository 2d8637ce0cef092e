use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::entry::{Entry, EntryId};
use crate::outcome::{Detail, Outcome};

/// A stored answer, found. Cheap to clone; holding it keeps only the answer alive.
pub struct Hit<V> {
    pub(super) entry: Arc<Entry<V>>,
    detail: Detail,
    age: Duration,
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
        self.entry.answer.value()
    }

    /// The text whose answer it is, where it was stored with one.
    pub(crate) fn text(&self) -> Option<&str> {
        self.entry.text.as_deref()
    }

    /// The canonical bytes of the request that it was stored for.
    pub(crate) fn canonical(&self) -> &Bytes {
        &self.entry.canonical
    }

    /// The entry that the answer was stored with; for a copy that was [promoted](super::Cache::promote),
    /// the one it was promoted from.
    #[must_use]
    pub fn entry(&self) -> EntryId {
        self.entry
            .origin()
            .map_or(self.entry.id, |origin| origin.id)
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
    pub fn outcome(&self) -> Outcome {
        Outcome::Hit {
            detail: self.detail,
            age: self.age,
            entry: self.entry(),
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
