use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::index::Slot;
use super::trust::Trust;
use crate::matching::Similarity;
use crate::scope::{Digest, Scope};

/// Names one stored answer, in one store, for ever: an answer stored later in its place has another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryId {
    /// Unique in the life of a store; also the order of arrival.
    pub(crate) sequence: u64,
    pub(crate) key: Digest,
}

/// One stored answer. Its request and its value never change: whoever holds it needs no lock.
pub(crate) struct Entry<V> {
    pub(crate) id: EntryId,
    pub(crate) scope: Scope,
    pub(crate) canonical: Bytes,
    pub(crate) text: Option<Arc<str>>,
    pub(crate) answer: Answer<V>,
    pub(crate) stored: Instant,
    pub(crate) expires: Instant,
    /// All that this entry costs the store, its vector included. Grows under the lock of its shard.
    pub(crate) bytes: AtomicUsize,
    /// Its row in the index, when it has a vector there.
    pub(crate) slot: Option<Arc<Slot>>,
    pub(crate) trust: Trust,
}

pub(crate) enum Answer<V> {
    Own(V),
    /// Promoted: the answer of a similar request.
    Of(Arc<Entry<V>>, Similarity),
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

    /// Where a promoted copy comes from.
    pub(crate) const fn origin(&self) -> Option<&Arc<Self>> {
        match &self.answer {
            Answer::Own(_) => None,
            Answer::Of(origin, _) => Some(origin),
        }
    }
}

// === impl Answer ===

impl<V> Answer<V> {
    pub(crate) fn value(&self) -> &V {
        match self {
            Self::Own(value) => value,
            Self::Of(origin, _) => origin.answer.value(),
        }
    }
}
