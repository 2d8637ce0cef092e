use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::commit::Refusal;
use super::entry::{Answer, Entry, EntryId};
use super::hit::Hit;
use super::shard::Shard;
use super::store::Cache;
use super::trust::Trust;
use crate::lookup::Lookup;
use crate::outcome::Detail;

/// Where an entry comes from and what it has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provenance {
    /// For a promoted copy, the entry whose answer it is.
    pub origin: Option<EntryId>,
    /// How long ago the answer was stored. A copy is as old as its origin.
    pub age: Duration,
    /// How much of its life is left.
    pub remaining: Duration,
    /// How often it answered an equal request.
    pub served_exact: u64,
    /// How often it answered a similar one, by its copies too.
    pub served_semantic: u64,
    /// How many copies of it there are.
    pub promoted: usize,
    /// How many requests it must not answer.
    pub vetoes: usize,
    /// Its answer cluster.
    pub cluster: u64,
}

// === impl Cache ===

impl<V> Cache<V> {
    /// Remembers a semantic hit under the request that it answered, so that a repeat costs no embedding.
    ///
    /// The copy shares the answer, is as old as its origin, expires with it and leaves with it, for
    /// whatever reason that is. A hit on it is a semantic hit: it serves only look-ups that match by a
    /// [threshold](crate::Matching::Threshold) which the similarity still reaches. It has no vector, so
    /// nothing is ever similar to it.
    ///
    /// # Errors
    ///
    /// [`Refusal::Forbidden`] for an exact hit, another scope, or a caller who does not store;
    /// [`Refusal::Superseded`] when the request has an answer of its own; [`Refusal::Purged`] when the
    /// origin has left; [`Refusal::Busy`] beyond 256 copies; [`Refusal::TooLarge`]. None is counted.
    pub fn promote(&self, lookup: &Lookup, hit: &Hit<V>) -> Result<EntryId, Refusal> {
        let Detail::Semantic { similarity } = hit.detail() else {
            return Err(Refusal::Forbidden);
        };
        let origin = hit.entry.origin().unwrap_or(&hit.entry);
        let now = Instant::now();
        let own = lookup.ttl.and_then(|ttl| origin.stored.checked_add(ttl));
        let expires = own.map_or(origin.expires, |own| own.min(origin.expires));
        let own_key = origin.id.key == lookup.key;
        if !lookup.control.store || origin.scope != lookup.scope || own_key || expires <= now {
            return Err(Refusal::Forbidden);
        }
        // With its place in the list of its origin, and the slack of that.
        let bytes = Shard::<V>::OVERHEAD
            + size_of::<Entry<V>>()
            + 2 * size_of::<usize>()
            + 2 * size_of::<EntryId>()
            + lookup.canonical.len();
        if bytes > self.max_entry_bytes() {
            return Err(Refusal::TooLarge);
        }
        let sequence = self.inner.sequence.fetch_add(1, Ordering::Relaxed);
        let id = EntryId {
            sequence,
            key: lookup.key,
        };
        let copy = Arc::new(Entry {
            id,
            scope: lookup.scope,
            canonical: Bytes::copy_from_slice(&lookup.canonical),
            text: None,
            answer: Answer::Of(Arc::clone(origin), similarity),
            stored: origin.stored,
            expires,
            bytes: AtomicUsize::new(bytes),
            slot: None,
            trust: Trust::new(origin.trust.cluster.load(Ordering::Relaxed)),
        });
        let shard = self.shard(&lookup.key).ok_or(Refusal::Busy)?;
        let removed = {
            let mut shard = shard.lock();
            let stored = shard.peek(&lookup.key);
            let own = stored.is_some_and(|stored| stored.origin().is_none() && stored.is_live(now));
            (!own).then(|| shard.insert(copy, now))
        };
        self.left(removed.ok_or(Refusal::Superseded)?);
        // Correctness: the origin may have left since it was served. Its copies leave with it only
        // once it knows them, so a copy that it refuses must leave by itself.
        if !origin.trust.adopt(id) {
            self.take_out(id);
            let gone = origin.trust.is_gone();
            return Err(if gone { Refusal::Purged } else { Refusal::Busy });
        }
        Ok(id)
    }

    /// What is known of an entry, unless it has left.
    #[must_use]
    pub fn provenance(&self, entry: EntryId) -> Option<Provenance> {
        let entry = self.find(entry)?;
        let (vetoes, promoted) = entry.trust.counts();
        let now = Instant::now();
        Some(Provenance {
            origin: entry.origin().map(|origin| origin.id),
            age: entry.age(now),
            remaining: entry.remaining(now),
            served_exact: entry.trust.served_exact.load(Ordering::Relaxed),
            served_semantic: entry.trust.served_semantic.load(Ordering::Relaxed),
            promoted,
            vetoes,
            cluster: entry.trust.cluster.load(Ordering::Relaxed),
        })
    }

    /// A hit on what is stored under the request itself.
    pub(super) fn hit_under_own_key(
        &self,
        lookup: &Lookup,
        entry: Arc<Entry<V>>,
        now: Instant,
    ) -> Option<Hit<V>> {
        let Answer::Of(origin, similarity) = &entry.answer else {
            entry.trust.served_exact.fetch_add(1, Ordering::Relaxed);
            return Some(Hit::new(entry, Detail::Exact, now));
        };
        let matches = lookup.matching.reaches(*similarity);
        if !matches || origin.trust.is_gone() || self.vetoed(lookup, None, origin) {
            return None;
        }
        for entry in [origin, &entry] {
            entry.trust.served_semantic.fetch_add(1, Ordering::Relaxed);
        }
        // The origin is in use as long as its copies are.
        self.touch(&origin.id.key, now);
        let similarity = *similarity;
        Some(Hit::new(entry, Detail::Semantic { similarity }, now))
    }
}
