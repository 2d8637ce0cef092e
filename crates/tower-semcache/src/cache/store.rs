use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::builder::{Builder, FOREVER};
use super::commit::{Commit, Refusal};
use super::entry::{Entry, Hit};
use super::generation::{Generation, Generations};
use super::index::{Index, Row};
use super::shard::{Found, Shard};
use super::stats::{Counters, Stats};
use crate::guard::{Guard, Verdict};
use crate::lookup::Lookup;
use crate::matching::Threshold;
use crate::outcome::Detail;
use crate::scope::{Digest, Scope};
use crate::vector::Unit;
use crate::weigh::Weigh;

/// Answers of type `V` in memory, under one bound in bytes. A clone is the same store.
///
/// An entry leaves when its life is over (counted from when it was stored, on the clock of
/// `tokio::time`), when it is the least recently used and room is needed, or by a purge; its
/// vector leaves with it.
///
/// A large store is cut into up to 16 shards by key. Each has its own lock, held for a few lines,
/// its own order of use and an equal share of the bytes.
pub struct Cache<V> {
    inner: Arc<Inner<V>>,
}

struct Inner<V> {
    shards: Box<[Mutex<Shard<V>>]>,
    index: Index,
    generations: Generations,
    sequence: AtomicU64,
    recording: AtomicUsize,
    counters: Counters,
    max_bytes: usize,
    max_entry_bytes: usize,
    ttl: Duration,
}

/// An answer on its way into the store.
pub(super) struct Insert<'a, V> {
    pub(super) lookup: Lookup,
    pub(super) value: V,
    pub(super) generation: Generation,
    pub(super) vector: Option<&'a Unit>,
    pub(super) ttl: Option<Duration>,
}

/// How many candidates a guard looks at in one search, the most similar first.
const MAX_GUARDED: usize = 1_024;

// === impl Cache ===

impl Cache<()> {
    /// Starts from the defaults: 256 MiB, 4 MiB an entry, one hour.
    #[must_use]
    pub const fn builder() -> Builder {
        Builder::new()
    }
}

impl<V> Cache<V> {
    pub(super) fn new(
        max_bytes: usize,
        max_entry_bytes: usize,
        ttl: Duration,
        shards: usize,
    ) -> Self {
        let shard = || Mutex::new(Shard::new(max_bytes / shards.max(1)));
        Self {
            inner: Arc::new(Inner {
                shards: std::iter::repeat_with(shard).take(shards.max(1)).collect(),
                index: Index::default(),
                generations: Generations::new(),
                sequence: AtomicU64::new(0),
                recording: AtomicUsize::new(0),
                counters: Counters::default(),
                max_bytes,
                max_entry_bytes,
                ttl,
            }),
        }
    }

    /// The answer to an equal request, if there is a live one that the caller's
    /// [`Control`](crate::Control) admits.
    ///
    /// Allocates nothing. Scope and canonical bytes are compared whole.
    #[must_use]
    pub fn get(&self, lookup: &Lookup) -> Option<Hit<V>> {
        if !lookup.control.lookup {
            return None;
        }
        let now = Instant::now();
        let entry = self.touch(&lookup.key, now)?;
        let equal = entry.scope == lookup.scope && entry.canonical == lookup.canonical;
        let admitted = lookup.control.admits(entry.age(now), entry.remaining(now));
        (equal && admitted).then(|| Hit::new(entry, Detail::Exact, now))
    }

    /// The answer to the most similar request of the same scope that is live, admitted by the
    /// caller and accepted by the guard.
    pub(crate) fn nearest<G>(
        &self,
        lookup: &Lookup,
        unit: &Unit,
        threshold: Threshold,
        guard: &G,
    ) -> Option<Hit<V>>
    where
        G: Guard,
    {
        let asked = lookup.text.as_deref().filter(|_| lookup.control.lookup)?;
        let candidates = self
            .inner
            .index
            .search(&lookup.scope, unit, threshold.similarity());
        let now = Instant::now();
        for candidate in candidates.iter().take(MAX_GUARDED) {
            let Row { sequence, key } = candidate.row;
            let entry = self.shard(&key).and_then(|shard| shard.lock().peek(&key));
            let Some(entry) = entry.filter(|entry| entry.sequence == sequence) else {
                continue;
            };
            if !entry.is_live(now) {
                // Takes it out, and its row with it.
                self.touch(&key, now);
                continue;
            }
            let admitted = lookup.control.admits(entry.age(now), entry.remaining(now));
            if !admitted || entry.scope != lookup.scope {
                continue;
            }
            let Some(cached) = entry.text.as_deref() else {
                continue;
            };
            if guard.accepts(asked, cached) == Verdict::Reject {
                self.inner.counters.guard_rejected.add(1);
                continue;
            }
            self.touch(&key, now);
            let detail = Detail::Semantic {
                similarity: candidate.similarity,
            };
            return Some(Hit::new(entry, detail, now));
        }
        None
    }

    /// Begins a request: hand the commit to whoever sees its answer end.
    #[must_use]
    pub fn begin(&self, lookup: Lookup) -> Commit<V> {
        let generation = self.generation(&lookup);
        Commit::new(self.clone(), lookup, generation, None)
    }

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

    pub(super) fn insert_with(&self, insert: Insert<'_, V>) -> Result<(), Refusal>
    where
        V: Weigh,
    {
        let stored = self.try_insert(insert);
        match stored {
            Ok(()) => self.inner.counters.stored.add(1),
            Err(reason) => self.inner.counters.refused(reason),
        }
        stored
    }

    fn try_insert(&self, insert: Insert<'_, V>) -> Result<(), Refusal>
    where
        V: Weigh,
    {
        let Insert {
            lookup,
            value,
            generation,
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
        let vector = vector.filter(|_| text.is_some());
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
        let row = Row { sequence, key };
        // Correctness: the row goes in before the entry. Were it the other way round, another
        // thread could evict the entry before its row is there, and the row would stay for ever.
        let indexed = vector.is_some_and(|unit| {
            let taken = self.inner.index.insert(&scope, row, unit);
            if !taken {
                self.inner.counters.embeddings_invalid.add(1);
            }
            taken
        });
        let entry = Arc::new(Entry {
            key,
            sequence,
            scope,
            canonical: Bytes::copy_from_slice(&canonical),
            text,
            value,
            stored: now,
            expires,
            bytes,
            indexed,
        });
        let removed = self.shard(&key).and_then(|shard| {
            let mut shard = shard.lock();
            // Correctness: a purge advances the generation and then takes this lock. Either the
            // advance is seen here, or the purge comes after this entry and takes it out.
            let current = self.inner.generations.of(&scope) == generation;
            current.then(|| shard.insert(Arc::clone(&entry), now))
        });
        let Some(removed) = removed else {
            self.unlist(&entry);
            return Err(Refusal::Purged);
        };
        self.inner.counters.evicted.add(removed.evicted.len());
        self.inner.counters.expired.add(removed.expired.len());
        let gone = removed
            .evicted
            .iter()
            .chain(&removed.expired)
            .chain(&removed.replaced);
        gone.for_each(|entry| self.unlist(entry));
        Ok(())
    }

    /// Removes the answer to one request. `true` when there was one.
    pub fn remove(&self, lookup: &Lookup) -> bool {
        let removed = self
            .shard(&lookup.key)
            .and_then(|shard| shard.lock().remove(&lookup.key));
        self.purged(removed.as_slice());
        removed.is_some()
    }

    /// Removes everything. Answers that are being recorded now will not be stored.
    pub fn purge(&self) {
        self.inner.generations.advance_all();
        for shard in &self.inner.shards {
            let old = shard.lock().take();
            self.purged(&old.into_entries());
        }
    }

    /// Removes everything in one scope. Answers of this scope that are being recorded now will not
    /// be stored.
    ///
    /// Looks at every entry of the store, one shard after the other.
    pub fn purge_scope(&self, scope: &Scope) {
        self.inner.generations.advance(scope);
        for shard in &self.inner.shards {
            let entries = shard.lock().take_scope(scope);
            self.purged(&entries);
        }
    }

    /// How many answers are stored, those expired and not yet met included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner
            .shards
            .iter()
            .map(|shard| shard.lock().len())
            .sum()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes are held, overheads included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.inner
            .shards
            .iter()
            .map(|shard| shard.lock().bytes())
            .sum()
    }

    /// The bound on [`Cache::bytes`].
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.inner.max_bytes
    }

    /// The bytes one entry may have, everything included.
    #[must_use]
    pub fn max_entry_bytes(&self) -> usize {
        self.inner.max_entry_bytes
    }

    /// A snapshot of the counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats {
            entries: self.len(),
            bytes: self.bytes(),
            vectors: self.inner.index.len(),
            ..self.inner.counters.read()
        }
    }

    pub(crate) fn generation(&self, lookup: &Lookup) -> Generation {
        self.inner.generations.of(&lookup.scope)
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.inner.counters
    }

    /// Takes bytes from the bound on recordings in flight.
    pub(super) fn reserve(&self, bytes: usize) -> bool {
        let held = self.inner.recording.fetch_add(bytes, Ordering::Relaxed);
        let fits = held.saturating_add(bytes) <= self.inner.max_bytes;
        if !fits {
            self.release(bytes);
        }
        fits
    }

    pub(super) fn release(&self, bytes: usize) {
        self.inner.recording.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn shard(&self, key: &Digest) -> Option<&Mutex<Shard<V>>> {
        self.inner.shards.get(key.bucket(self.inner.shards.len()))
    }

    /// The live entry under this key, made the most recently used. Takes out an expired one.
    fn touch(&self, key: &Digest, now: Instant) -> Option<Arc<Entry<V>>> {
        let found = self.shard(key)?.lock().touch(key, now);
        match found {
            Found::Live(entry) => Some(entry),
            Found::Expired(entry) => {
                self.inner.counters.expired.add(1);
                self.unlist(&entry);
                None
            }
            Found::Nothing => None,
        }
    }

    fn purged(&self, entries: &[Arc<Entry<V>>]) {
        self.inner.counters.purged.add(entries.len());
        entries.iter().for_each(|entry| self.unlist(entry));
    }

    /// Takes the vector of an entry that has left out of the index.
    fn unlist(&self, entry: &Entry<V>) {
        if entry.indexed {
            self.inner.index.remove(&entry.scope, entry.sequence);
        }
    }
}

impl<V> Clone for Cache<V> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<V> fmt::Debug for Cache<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("max_bytes", &self.inner.max_bytes)
            .field("max_entry_bytes", &self.inner.max_entry_bytes)
            .field("ttl", &self.inner.ttl)
            .finish_non_exhaustive()
    }
}
