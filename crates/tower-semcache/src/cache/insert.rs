use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::builder::FOREVER;
use super::commit::Refusal;
use super::entry::{Answer, Entry, EntryId};
use super::generation::Generation;
use super::hit::Hit;
use super::index::Index;
use super::shard::Shard;
use super::store::Cache;
use super::trust::Trust;
use crate::lookup::Lookup;
use crate::outcome::Detail;
use crate::vector::Unit;
use crate::weigh::Weigh;

/// An answer on its way into the store.
pub(super) struct Insert<'a, V> {
    pub(super) lookup: Lookup,
    pub(super) value: V,
    pub(super) generation: Generation,
    pub(super) began: Instant,
    pub(super) vector: Option<&'a Unit>,
    pub(super) ttl: Option<Duration>,
}

/// In a new entry's cluster: whoever numbers clusters counts from zero up and never comes here.
const UNCLUSTERED: u64 = 1 << 63;

// === impl Cache ===

impl<V> Cache<V> {
    /// Stores an answer, in place of the one to an equal request.
    ///
    /// The entry owns its bytes: the canonical request is copied, so that it keeps no larger buffer
    /// alive.
    ///
    /// # Errors
    ///
    /// The reason why it was not stored, which has been counted.
    pub fn insert(&self, lookup: &Lookup, value: V) -> Result<(), Refusal>
    where
        V: Weigh,
    {
        self.begin(lookup.clone()).store(value)
    }

    /// The entry, stored.
    pub(super) fn insert_with(&self, insert: Insert<'_, V>) -> Result<Hit<V>, Refusal>
    where
        V: Weigh,
    {
        let stored = self.try_insert(insert);
        match &stored {
            Ok(_) => self.inner.counters.stored.add(1),
            Err(reason) => self.inner.counters.refused(*reason),
        }
        stored
    }

    fn try_insert(&self, insert: Insert<'_, V>) -> Result<Hit<V>, Refusal>
    where
        V: Weigh,
    {
        let Insert {
            lookup,
            value,
            generation,
            began,
            vector,
            ttl,
        } = insert;
        let Lookup {
            key,
            scope,
            canonical,
            text,
            ttl: own,
            control,
            matching: _,
        } = lookup;
        let life = own
            .unwrap_or(self.inner.ttl)
            .min(ttl.unwrap_or(FOREVER))
            .min(FOREVER);
        let now = Instant::now();
        let expires = now.checked_add(life).ok_or(Refusal::Forbidden)?;
        if life.is_zero() || !control.store {
            return Err(Refusal::Forbidden);
        }
        // One is of no use without the other.
        let vector = vector.filter(|_| text.is_some());
        let text = text.filter(|_| vector.is_some());
        let bytes = Shard::<V>::OVERHEAD
            + size_of::<Entry<V>>()
            + 2 * size_of::<usize>()
            + canonical.len()
            + text
                .as_ref()
                .map_or(0, |text| text.len() + 2 * size_of::<usize>())
            + vector.map_or(0, |unit| Index::cost(unit.as_slice().len()))
            + value.weigh().saturating_sub(size_of::<V>());
        if bytes > self.inner.max_entry_bytes {
            return Err(Refusal::TooLarge);
        }
        let sequence = self.inner.sequence.fetch_add(1, Ordering::Relaxed);
        let id = EntryId { sequence, key };
        // Correctness: the row goes in before the entry. Were it the other way round, another
        // thread could evict the entry before its row is there, and the row would stay for ever.
        let slot = vector.and_then(|unit| {
            let slot = self.inner.index.insert(&scope, id, unit);
            if slot.is_none() {
                self.inner.counters.embeddings_invalid.add(1);
            }
            slot
        });
        let entry = Arc::new(Entry {
            id,
            scope,
            canonical: Bytes::copy_from_slice(&canonical),
            text,
            answer: Answer::Own(value),
            stored: now,
            expires,
            bytes: AtomicUsize::new(bytes),
            slot,
            trust: Trust::new(UNCLUSTERED | sequence),
        });
        let removed = self.shard(&key).ok_or(Refusal::Purged).and_then(|shard| {
            let mut shard = shard.lock();
            // Correctness: a purge advances the generation and then takes this lock. Either the
            // advance is seen here, or the purge comes after this entry and takes it out.
            let current = self.inner.generations.of(&scope) == generation;
            let newer = shard
                .peek(&key)
                .filter(|stored| stored.origin().is_none())
                .is_some_and(|stored| stored.is_live(now) && stored.stored > began);
            match (current, newer) {
                (true, false) => Ok(shard.insert(Arc::clone(&entry), now)),
                (true, true) => Err(Refusal::Superseded),
                (false, _) => Err(Refusal::Purged),
            }
        });
        let removed = match removed {
            Ok(removed) => removed,
            Err(reason) => {
                self.unlist(&entry);
                return Err(reason);
            }
        };
        self.left(removed);
        Ok(Hit::new(entry, Detail::Exact, now))
    }
}
