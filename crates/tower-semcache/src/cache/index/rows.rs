use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::nearest::Near;
use super::vectors::Vectors;

/// The rows of one scope, behind a lock at which a long search lets writers pass.
#[derive(Debug, Default)]
pub(super) struct Rows {
    vectors: RwLock<Vectors>,
    /// Writers that wait, or are about to.
    waiting: AtomicUsize,
}

// === impl Rows ===

impl Rows {
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Vectors> {
        self.vectors.read()
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Vectors> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let vectors = self.vectors.write();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        vectors
    }

    /// Lets a writer pass, if one waits. The rows in hand are then where it has moved them to; those
    /// that it removed are no longer among them.
    ///
    /// Correctness: a place may be given to another row while the lock is free, a slot is that of its
    /// row for ever. Finding the slots costs a read of cold memory a row: only where it is needed. A
    /// writer that is overlooked here is seen at the next call: the counter is no more than a hint.
    pub(super) fn pass(&self, vectors: &mut RwLockReadGuard<'_, Vectors>, rows: &mut Vec<Near>) {
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        let slots = rows.drain(..).filter_map(|row| {
            let slot = vectors.slot(row.place)?;
            Some((row.distance, Arc::clone(slot)))
        });
        let slots: Vec<_> = slots.collect();
        RwLockReadGuard::bump(vectors);
        rows.extend(slots.into_iter().filter_map(|(distance, slot)| {
            let place = u32::try_from(slot.place()?).ok()?;
            Some(Near { distance, place })
        }));
    }
}
