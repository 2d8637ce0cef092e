use std::sync::atomic::{AtomicU32, Ordering};

use crate::cache::entry::EntryId;

/// The row of one entry: shared by the entry and the index, so that either finds the other without
/// a table.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) id: EntryId,
    /// Where in its scope the row is. Written under the lock of the scope only.
    place: AtomicU32,
}

const NOWHERE: u32 = u32::MAX;

// === impl Slot ===

impl Slot {
    /// The bytes one costs, with the two counters before it and what an allocator rounds up.
    pub(super) const COST: usize = size_of::<Self>() + 2 * size_of::<usize>() + 16;

    pub(super) const fn new(id: EntryId, place: u32) -> Self {
        Self {
            id,
            place: AtomicU32::new(place),
        }
    }

    /// `None` once the row has left.
    pub(super) fn place(&self) -> Option<usize> {
        let place = self.place.load(Ordering::Relaxed);
        (place != NOWHERE).then_some(place as usize)
    }

    pub(super) fn move_to(&self, place: usize) {
        let place = u32::try_from(place).unwrap_or(NOWHERE);
        self.place.store(place, Ordering::Relaxed);
    }

    /// Where the row was.
    pub(super) fn leave(&self) -> Option<usize> {
        let place = self.place.swap(NOWHERE, Ordering::Relaxed);
        (place != NOWHERE).then_some(place as usize)
    }
}
