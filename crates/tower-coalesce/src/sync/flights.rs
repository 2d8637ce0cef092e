use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Flight, Mutex};

/// The flights that can be joined, by key, and the number of all that are in the air.
///
/// `E` is what the map keeps of a flight, behind an [`Arc`].
pub(crate) struct Flights<K, O, E> {
    hasher: ahash::RandomState,
    table: Mutex<Table<K, O, E>>,
}

struct Table<K, O, E> {
    joinable: HashSet<Entry<K, O, E>, BuildHasherDefault<Ready>>,
    next_id: u64,
    open: usize,
}

/// What came of asking for a key.
pub(crate) enum Entered<E> {
    /// A new flight: the caller leads it.
    Lead(Arc<E>),
    /// A flight that was there.
    Join(Arc<E>),
    /// There are as many flights as there may be.
    Full,
}

/// A key with its hash, so that the user's `Hash` runs once and outside the lock.
#[derive(Clone, Debug)]
pub(crate) struct Hashed<K> {
    hash: u64,
    key: K,
}

struct Entry<K, O, E> {
    seat: Arc<E>,
    holds: PhantomData<fn() -> (K, O)>,
}

/// A hasher for what is hashed already.
#[derive(Default)]
struct Ready(u64);

// === impl Flights ===

impl<K, O, E> fmt::Debug for Flights<K, O, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights").finish_non_exhaustive()
    }
}

impl<K, O, E> Flights<K, O, E>
where
    K: Hash + Eq,
    E: AsRef<Flight<K, O>>,
{
    pub(crate) fn new() -> Self {
        let table = Table {
            joinable: HashSet::default(),
            next_id: 0,
            open: 0,
        };
        Self {
            hasher: ahash::RandomState::new(),
            table: Mutex::new(table),
        }
    }

    pub(crate) fn hash(&self, key: K) -> Hashed<K> {
        Hashed {
            hash: self.hasher.hash_one(&key),
            key,
        }
    }

    /// Joins the flight of `key`, or starts one if there is none, or none but the one that `refused` the caller, which it
    /// then replaces.
    pub(crate) fn enter(
        &self,
        key: Hashed<K>,
        refused: Option<u64>,
        limit: usize,
        make: impl FnOnce(Flight<K, O>) -> E,
    ) -> Entered<E> {
        let mut table = self.table.lock();
        if let Some(found) = table.joinable.get(&key)
            && refused != Some(found.id())
        {
            found.flight().board();
            return Entered::Join(Arc::clone(&found.seat));
        }
        if table.open >= limit {
            return Entered::Full;
        }
        let id = table.next_id;
        table.next_id += 1;
        let seat = Arc::new(make(Flight::new(id, key)));
        let replaced = table.joinable.replace(Entry::new(Arc::clone(&seat)));
        table.open += 1;
        drop(table);
        drop(replaced);
        Entered::Lead(seat)
    }

    /// Stops a flight with nobody in it and frees its key. Returns whether it was this call that did.
    pub(crate) fn stop_if_deserted(&self, seat: &E) -> bool {
        let mut table = self.table.lock();
        let Some(pilot) = seat.as_ref().stop_if_deserted() else {
            return false;
        };
        let entry = table.remove(seat.as_ref());
        drop(table);
        drop(entry);
        if let Some(pilot) = pilot {
            pilot.wake();
        }
        true
    }

    /// A flight is over: frees its place, and its key if it still has it. Once a flight.
    pub(crate) fn retire(&self, seat: &E) {
        let mut table = self.table.lock();
        table.open = table.open.saturating_sub(1);
        let entry = table.remove(seat.as_ref());
        drop(table);
        drop(entry);
    }

    /// The number of keys taken, and of flights in the air.
    #[cfg(test)]
    pub(crate) fn len(&self) -> (usize, usize) {
        let table = self.table.lock();
        (table.joinable.len(), table.open)
    }
}

impl<K, O, E> Table<K, O, E>
where
    K: Eq,
    E: AsRef<Flight<K, O>>,
{
    /// Removes the entry of `flight`, and of no other that may have its key by now.
    fn remove(&mut self, flight: &Flight<K, O>) -> Option<Entry<K, O, E>> {
        let own = self
            .joinable
            .get(flight.key())
            .is_some_and(|found| found.id() == flight.id());
        if own {
            self.joinable.take(flight.key())
        } else {
            None
        }
    }
}

// === impl Entry ===

impl<K, O, E: AsRef<Flight<K, O>>> Entry<K, O, E> {
    fn new(seat: Arc<E>) -> Self {
        Self {
            seat,
            holds: PhantomData,
        }
    }

    fn flight(&self) -> &Flight<K, O> {
        (*self.seat).as_ref()
    }

    fn id(&self) -> u64 {
        self.flight().id()
    }
}

impl<K, O, E: AsRef<Flight<K, O>>> Borrow<Hashed<K>> for Entry<K, O, E> {
    fn borrow(&self) -> &Hashed<K> {
        self.flight().key()
    }
}

impl<K, O, E: AsRef<Flight<K, O>>> Hash for Entry<K, O, E> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        self.flight().key().hash(state);
    }
}

impl<K: Eq, O, E: AsRef<Flight<K, O>>> PartialEq for Entry<K, O, E> {
    fn eq(&self, other: &Self) -> bool {
        self.flight().key() == other.flight().key()
    }
}

impl<K: Eq, O, E: AsRef<Flight<K, O>>> Eq for Entry<K, O, E> {}

// === impl Hashed ===

impl<K> Hash for Hashed<K> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        state.write_u64(self.hash);
    }
}

impl<K: Eq> PartialEq for Hashed<K> {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.key == other.key
    }
}

impl<K: Eq> Eq for Hashed<K> {}

// === impl Ready ===

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only `write_u64` is ever called; this keeps the type honest if that changes.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
