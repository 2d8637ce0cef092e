//! The vector index: exact neighbours, one index a scope.
//!
//! A small scope (up to 1,024 rows) is searched by comparing every vector. In a larger one the signs
//! of all rows are counted first, 48 bytes a row instead of 1,536 at 384 dimensions, and only the
//! vectors of the nearest few by signs are compared; see [`signs`]. How many signs a row as similar as
//! is asked for may differ in is known ([`centre`]): of blocks without such a row only the first signs
//! are read, and comparing ends where no better one can follow.

mod asked;
mod centre;
mod code;
mod nearest;
mod rows;
mod search;
mod signs;
mod slot;
mod vectors;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;

use self::rows::Rows;
use self::search::Search;
pub(crate) use self::slot::Slot;
use self::vectors::Vectors;
use super::entry::EntryId;
use crate::matching::Similarity;
use crate::scope::{DigestMap, Scope};
use crate::vector::Unit;

/// The vectors of every scope, each scope by itself: what one holds never costs another recall.
///
/// A search reads one scope and blocks only writers to that scope, and those for the time of one
/// stretch of rows (tens of microseconds), not of the whole search; it holds no lock of the entries.
/// The rows follow the entries: a row goes in before its entry is stored and comes out after its
/// entry has left, so a row may for a moment stand for no entry, never the reverse.
#[derive(Debug, Default)]
pub(crate) struct Index {
    scopes: RwLock<DigestMap<Scope, Arc<Rows>>>,
    len: AtomicUsize,
}

/// A row that is similar enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) similarity: Similarity,
    pub(crate) id: EntryId,
}

/// How many rows of a large scope are compared whole, after the signs of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// As many as it takes to know the nearest one, and no more.
    Nearest,
    /// As many as the most similar one was among in all that was measured.
    Near,
    /// More than a guard is ever asked about: for when it rejected all those that are near.
    Deep,
}

/// What a search found, the most similar first, and among equals the one that came first.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    /// Whether a deeper search may find more: this one ended at the nearest, or the ones compared were
    /// similar enough for the most part, so that others may be too.
    pub(crate) more: bool,
}

// === impl Index ===

impl Index {
    /// The bytes a vector of this length costs: its row and, as if each were alone, its scope.
    pub(crate) const fn cost(dimensions: usize) -> usize {
        let listed = size_of::<(Scope, usize)>() * 16 / 7 + 4 * size_of::<usize>();
        Vectors::cost(dimensions) + Vectors::OVERHEAD + listed
    }

    /// Adds a row. `None` when the vectors of this scope have another length.
    pub(crate) fn insert(&self, scope: &Scope, id: EntryId, unit: &Unit) -> Option<Arc<Slot>> {
        loop {
            let vectors = self.scopes.read().get(scope).map(Arc::clone);
            let vectors = vectors
                .unwrap_or_else(|| Arc::clone(self.scopes.write().entry(*scope).or_default()));
            let mut inner = vectors.write();
            if !inner.closed {
                let slot = inner.insert(id, unit.as_slice());
                self.len
                    .fetch_add(usize::from(slot.is_some()), Ordering::Relaxed);
                return slot;
            }
            // Correctness: whoever closed this scope may not have unlisted it yet. Doing it here
            // makes the next turn find another one, without waiting for that thread.
            drop(inner);
            self.unlist(scope, &vectors);
        }
    }

    /// Removes a row, and its scope with the last one.
    pub(crate) fn remove(&self, scope: &Scope, slot: &Slot) {
        let Some(vectors) = self.scopes.read().get(scope).map(Arc::clone) else {
            return;
        };
        let mut inner = vectors.write();
        let removed = inner.remove(slot);
        self.len.fetch_sub(usize::from(removed), Ordering::Relaxed);
        if inner.closed || !inner.is_empty() {
            return;
        }
        inner.closed = true;
        drop(inner);
        self.unlist(scope, &vectors);
    }

    /// The rows of the scope at this similarity or above. In a small scope all of them; in a large
    /// one those among the rows that are near by their signs.
    pub(crate) fn search(
        &self,
        scope: &Scope,
        unit: &Unit,
        least: Similarity,
        depth: Depth,
    ) -> Found {
        let Some(rows) = self.scopes.read().get(scope).map(Arc::clone) else {
            return Found::default();
        };
        let mut found = Search::new(&rows, unit, least, depth).run();
        found.candidates.sort_unstable_by(|one, two| {
            two.similarity
                .cmp(&one.similarity)
                .then(one.id.sequence.cmp(&two.id.sequence))
        });
        found
            .candidates
            .dedup_by_key(|candidate| candidate.id.sequence);
        found
    }

    fn unlist(&self, scope: &Scope, vectors: &Arc<Rows>) {
        let mut scopes = self.scopes.write();
        if scopes
            .get(scope)
            .is_some_and(|listed| Arc::ptr_eq(listed, vectors))
        {
            scopes.remove(scope);
        }
    }

    /// How many vectors there are.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }
}

// === impl Depth ===

impl Depth {
    /// Of 2,617 questions of BANKING77 to 10,466 others, under all-MiniLM-L6-v2, 2,616 have the nearest
    /// one among the first 23 by signs, and the last one among the first 151.
    const fn rows(self) -> usize {
        match self {
            Self::Nearest | Self::Near => 256,
            Self::Deep => 4_096,
        }
    }
}
