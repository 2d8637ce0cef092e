use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::entry::EntryId;
use crate::scope::Digest;

/// What is learnt of an entry while it lives: whom it must never answer, who leaves with it, how often
/// it served.
#[derive(Debug)]
pub(crate) struct Trust {
    /// It has left the store; so has whatever was promoted from it.
    gone: AtomicBool,
    pub(crate) cluster: AtomicU64,
    pub(crate) served_exact: AtomicU64,
    pub(crate) served_semantic: AtomicU64,
    links: Mutex<Links>,
}

#[derive(Debug, Default)]
struct Links {
    /// Keys of requests that were judged to want another answer.
    vetoed: Vec<Digest>,
    /// Copies of this answer under other requests.
    promoted: Vec<EntryId>,
    /// Judged different too often: it answers nobody but who asks the same.
    exiled: bool,
}

/// What became of a veto.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vetoed {
    Known,
    /// Remembered, for so many bytes.
    Added(usize),
    /// One too many: the entry has to leave the semantic tier.
    Exiled,
}

/// Vetoes of one entry. Whoever draws more of them is near everything.
const MAX_VETOED: usize = 64;
/// Copies of one answer.
const MAX_PROMOTED: usize = 256;

// === impl Trust ===

impl Trust {
    pub(crate) fn new(cluster: u64) -> Self {
        Self {
            gone: AtomicBool::new(false),
            cluster: AtomicU64::new(cluster),
            served_exact: AtomicU64::new(0),
            served_semantic: AtomicU64::new(0),
            links: Mutex::default(),
        }
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Marks the entry as gone, and says who has to go with it.
    ///
    /// Correctness: the mark first. A copy that is promoted meanwhile is either in the list, or its
    /// [`Trust::adopt`] comes after the lock and sees the mark.
    pub(crate) fn leave(&self) -> Vec<EntryId> {
        self.gone.store(true, Ordering::Release);
        std::mem::take(&mut self.links.lock().promoted)
    }

    /// Adds a copy. `false` when the entry has gone, or has too many.
    pub(crate) fn adopt(&self, copy: EntryId) -> bool {
        let mut links = self.links.lock();
        let fine = !self.is_gone() && links.promoted.len() < MAX_PROMOTED;
        if fine {
            links.promoted.push(copy);
        }
        fine
    }

    pub(crate) fn disown(&self, copy: EntryId) {
        self.links.lock().promoted.retain(|other| *other != copy);
    }

    /// The copy that answers this request.
    pub(crate) fn copy_under(&self, key: &Digest) -> Option<EntryId> {
        let links = self.links.lock();
        links.promoted.iter().find(|copy| copy.key == *key).copied()
    }

    pub(crate) fn veto(&self, key: Digest) -> Vetoed {
        let mut links = self.links.lock();
        if links.exiled || links.vetoed.contains(&key) {
            return Vetoed::Known;
        }
        if links.vetoed.len() >= MAX_VETOED {
            links.exiled = true;
            return Vetoed::Exiled;
        }
        let before = links.vetoed.capacity();
        links.vetoed.push(key);
        Vetoed::Added((links.vetoed.capacity() - before) * size_of::<Digest>())
    }

    pub(crate) fn vetoes(&self, key: &Digest) -> bool {
        let links = self.links.lock();
        links.exiled || links.vetoed.contains(key)
    }

    /// How many vetoes and copies there are.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let links = self.links.lock();
        (links.vetoed.len(), links.promoted.len())
    }
}
