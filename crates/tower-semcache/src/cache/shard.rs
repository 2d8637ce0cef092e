use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::time::Instant;

use super::entry::{Entry, EntryId};
use super::lru::{Index, Lru};
use crate::scope::{Digest, DigestMap, Scope};

/// A part of the store under one lock: entries by key, in order of use, within a bound in bytes.
///
/// Nothing here runs code of the user: entries are shared pointers, and those that leave are
/// handed out, to be dropped after the lock.
pub(crate) struct Shard<V> {
    slots: DigestMap<Digest, Index>,
    lru: Lru<Place<V>>,
    bytes: usize,
    max_bytes: usize,
    /// Where the search for expired entries goes on.
    cursor: Index,
}

/// An entry, and beside it when it expires: the search for expired ones goes along the list and touches no entry that lives.
struct Place<V> {
    expires: Instant,
    entry: Arc<Entry<V>>,
}

/// What left a shard, and why.
pub(crate) struct Removed<V> {
    pub(crate) evicted: Vec<Arc<Entry<V>>>,
    pub(crate) expired: Vec<Arc<Entry<V>>>,
    pub(crate) replaced: Option<Arc<Entry<V>>>,
}

/// What a shard has under a key.
pub(crate) enum Found<V> {
    Live(Arc<Entry<V>>),
    /// It was there, and has been taken out.
    Expired(Arc<Entry<V>>),
    Nothing,
}

/// How many slots each insertion searches for expired entries: two, so that the search overtakes
/// the growth of the store.
const SEARCHED: usize = 2;

// === impl Shard ===

impl<V> Shard<V> {
    /// The bytes an entry costs beyond its own: its slot in the list, and its place in the map at
    /// the lowest load a growing table has (7/16), with the control byte.
    pub(crate) const OVERHEAD: usize =
        Lru::<Place<V>>::OVERHEAD * 2 + (size_of::<(Digest, Index)>() + 1) * 16 / 7;

    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            slots: DigestMap::default(),
            lru: Lru::new(),
            bytes: 0,
            max_bytes,
            cursor: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lru.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The entry under this key, made the most recently used.
    pub(crate) fn touch(&mut self, key: &Digest, now: Instant) -> Found<V> {
        let Some(index) = self.slots.get(key).copied() else {
            return Found::Nothing;
        };
        let Some(place) = self.lru.get(index) else {
            return Found::Nothing;
        };
        if place.expires > now {
            let entry = Arc::clone(&place.entry);
            self.lru.touch(index);
            Found::Live(entry)
        } else {
            self.remove(key).map_or(Found::Nothing, Found::Expired)
        }
    }

    /// The entry under this key, left where it is.
    pub(crate) fn peek(&self, key: &Digest) -> Option<Arc<Entry<V>>> {
        let place = self.lru.get(*self.slots.get(key)?)?;
        Some(Arc::clone(&place.entry))
    }

    /// Stores an entry that is itself within the bound, in place of the one under its key, and
    /// makes room for it: first what has expired and is met by the search, then the least recently
    /// used.
    pub(crate) fn insert(&mut self, entry: Arc<Entry<V>>, now: Instant) -> Removed<V> {
        let mut removed = Removed {
            evicted: Vec::new(),
            expired: Vec::new(),
            replaced: self.remove(&entry.id.key),
        };
        self.search_expired(now, &mut removed.expired);
        let bytes = entry.bytes.load(Ordering::Relaxed);
        self.make_room(bytes, now, &mut removed);
        let (key, expires) = (entry.id.key, entry.expires);
        if let Some(index) = self.lru.push(Place { expires, entry }) {
            self.slots.insert(key, index);
            self.bytes += bytes;
        }
        removed
    }

    fn make_room(&mut self, bytes: usize, now: Instant, removed: &mut Removed<V>) {
        while self.bytes.saturating_add(bytes) > self.max_bytes {
            let oldest = self
                .lru
                .oldest()
                .and_then(|index| self.lru.get(index))
                .map(|place| place.entry.id.key);
            let Some(oldest) = oldest.and_then(|key| self.remove(&key)) else {
                break;
            };
            let list = if oldest.is_live(now) {
                &mut removed.evicted
            } else {
                &mut removed.expired
            };
            list.push(oldest);
        }
    }

    /// Adds to the bytes of an entry, and takes out what no longer fits: itself, when it is the least
    /// recently used.
    pub(crate) fn charge(&mut self, id: EntryId, bytes: usize, now: Instant) -> Removed<V> {
        let mut removed = Removed {
            evicted: Vec::new(),
            expired: Vec::new(),
            replaced: None,
        };
        if let Some(entry) = self.peek(&id.key).filter(|entry| entry.id == id) {
            entry.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.bytes += bytes;
            self.make_room(0, now, &mut removed);
        }
        removed
    }

    /// Removes the entry of this name, and no other under its key.
    pub(crate) fn remove_entry(&mut self, id: EntryId) -> Option<Arc<Entry<V>>> {
        self.peek(&id.key).filter(|entry| entry.id == id)?;
        self.remove(&id.key)
    }

    pub(crate) fn remove(&mut self, key: &Digest) -> Option<Arc<Entry<V>>> {
        let Place { entry, .. } = self.lru.remove(self.slots.remove(key)?)?;
        self.bytes -= entry.bytes.load(Ordering::Relaxed);
        Some(entry)
    }

    /// Empties the shard; what it held is handed out whole, to be taken apart after the lock.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.max_bytes))
    }

    pub(crate) fn into_entries(self) -> Vec<Arc<Entry<V>>> {
        let Self { mut lru, .. } = self;
        let mut entries = Vec::with_capacity(lru.len());
        while let Some(place) = lru.oldest().and_then(|index| lru.remove(index)) {
            entries.push(place.entry);
        }
        entries
    }

    /// Takes every entry of one scope out.
    pub(crate) fn take_scope(&mut self, scope: &Scope) -> Vec<Arc<Entry<V>>> {
        let keys: Vec<_> = (0..self.lru.slots())
            .filter_map(|index| self.lru.get(u32::try_from(index).ok()?))
            .filter(|place| place.entry.scope == *scope)
            .map(|place| place.entry.id.key)
            .collect();
        keys.iter().filter_map(|key| self.remove(key)).collect()
    }

    fn search_expired(&mut self, now: Instant, expired: &mut Vec<Arc<Entry<V>>>) {
        for _ in 0..SEARCHED.min(self.lru.slots()) {
            let met = self.lru.get(self.cursor);
            if let Some(key) = met
                .filter(|place| place.expires <= now)
                .map(|place| place.entry.id.key)
            {
                expired.extend(self.remove(&key));
            }
            let next = self.cursor as usize + 1;
            self.cursor = if next < self.lru.slots() {
                self.cursor + 1
            } else {
                0
            };
        }
    }
}
