use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::builder::Builder;
use super::commit::Commit;
use super::entry::Entry;
use super::generation::{Generation, Generations};
use super::hit::Hit;
use super::index::Index;
use super::pairs::Pairs;
use super::shard::{Found, Removed, Shard};
use super::stats::{Counters, Stats};
use crate::lookup::Lookup;
use crate::scope::{Digest, Scope};

/// Answers of type `V` in memory, under one bound in bytes. A clone is the same store.
///
/// An entry leaves when its life is over (counted from when it was stored, on the clock of
/// `tokio::time`), when it is the least recently used and room is needed, or by a purge; its
/// vector leaves with it.
///
/// An answer that is being sent stays in memory until it is, even when its entry has left.
///
/// A large store is cut into up to 16 shards by key. Each has its own lock, held for a few lines,
/// its own order of use and an equal share of the bytes.
pub struct Cache<V> {
    pub(super) inner: Arc<Inner<V>>,
}

pub(super) struct Inner<V> {
    pub(super) shards: Box<[Mutex<Shard<V>>]>,
    pub(super) index: Index,
    pub(super) pairs: Pairs,
    pub(super) generations: Generations,
    pub(super) sequence: AtomicU64,
    pub(super) recording: AtomicUsize,
    pub(super) counters: Counters,
    pub(super) max_bytes: usize,
    pub(super) max_entry_bytes: usize,
    pub(super) ttl: Duration,
}

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
                pairs: Pairs::within(max_bytes),
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
        let entry = (equal && admitted).then_some(entry)?;
        self.hit_under_own_key(lookup, entry, now)
    }

    /// Begins a request: hand the commit to whoever sees its answer end.
    #[must_use]
    pub fn begin(&self, lookup: Lookup) -> Commit<V> {
        let generation = self.generation(&lookup);
        Commit::new(self.clone(), lookup, generation, None)
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

    pub(super) fn shard(&self, key: &Digest) -> Option<&Mutex<Shard<V>>> {
        self.inner.shards.get(key.bucket(self.inner.shards.len()))
    }

    /// The live entry under this key, made the most recently used. Takes out an expired one.
    pub(super) fn touch(&self, key: &Digest, now: Instant) -> Option<Arc<Entry<V>>> {
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

    pub(super) fn purged(&self, entries: &[Arc<Entry<V>>]) {
        self.inner.counters.purged.add(entries.len());
        entries.iter().for_each(|entry| self.unlist(entry));
    }

    /// Counts those that left a shard to make room, and sees to what follows.
    pub(super) fn left(&self, removed: Removed<V>) {
        self.inner.counters.evicted.add(removed.evicted.len());
        self.inner.counters.expired.add(removed.expired.len());
        let gone = removed
            .evicted
            .iter()
            .chain(&removed.expired)
            .chain(&removed.replaced);
        gone.for_each(|entry| self.unlist(entry));
    }

    /// What follows when an entry has left: its copies leave the store, and its vector the index.
    pub(super) fn unlist(&self, entry: &Entry<V>) {
        for copy in entry.trust.leave() {
            let copy = self.take_out(copy);
            self.inner.counters.evicted.add(usize::from(copy.is_some()));
        }
        if let Some(origin) = entry.origin() {
            origin.trust.disown(entry.id);
        }
        if let Some(slot) = &entry.slot {
            self.inner.index.remove(&entry.scope, slot);
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
