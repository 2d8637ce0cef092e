use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;

use crate::matching::Similarity;
use crate::scope::{Digest, DigestMap, Scope};
use crate::vector::{Unit, dot};

/// The vectors of every scope, each scope by itself: what one holds never costs another recall.
///
/// A search reads one scope and blocks only writers to that scope; it holds no lock of the entries.
/// The rows follow the entries: a row goes in before its entry is stored and comes out after its
/// entry has left, so a row may for a moment stand for no entry, never the reverse.
#[derive(Debug, Default)]
pub(crate) struct Index {
    scopes: RwLock<DigestMap<Scope, Arc<RwLock<Vectors>>>>,
    len: AtomicUsize,
}

/// A row that is similar enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) similarity: Similarity,
    pub(crate) row: Row,
}

/// Names an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) sequence: u64,
    pub(crate) key: Digest,
}

/// One scope: vectors of one length, end to end, and a row for each.
#[derive(Debug, Default)]
struct Vectors {
    dimensions: usize,
    coordinates: Vec<f32>,
    rows: Vec<Row>,
    by_sequence: DigestMap<u64, u32>,
    /// No longer in the map: whoever waited for the lock must look again.
    closed: bool,
}

// === impl Index ===

impl Index {
    /// The bytes a vector of this length costs: its coordinates and row with the slack of growth
    /// (a quarter), its place in a table, and, as if each were alone, its scope.
    pub(crate) const fn cost(dimensions: usize) -> usize {
        let row = (dimensions * size_of::<f32>() + size_of::<Row>()) * 5 / 4;
        let place = (size_of::<(u64, u32)>() + 1) * 16 / 7;
        let scope = size_of::<Vectors>() + size_of::<(Scope, usize)>() * 16 / 7 + 64;
        row + place + scope
    }

    /// Adds a row. `false` when the vectors of this scope have another length.
    pub(crate) fn insert(&self, scope: &Scope, row: Row, unit: &Unit) -> bool {
        loop {
            let vectors = self.scopes.read().get(scope).map(Arc::clone);
            let vectors = vectors
                .unwrap_or_else(|| Arc::clone(self.scopes.write().entry(*scope).or_default()));
            let mut inner = vectors.write();
            if !inner.closed {
                let taken = inner.insert(row, unit.as_slice());
                self.len.fetch_add(usize::from(taken), Ordering::Relaxed);
                return taken;
            }
            // Correctness: whoever closed this scope may not have unlisted it yet. Doing it here
            // makes the next turn find another one, without waiting for that thread.
            drop(inner);
            self.unlist(scope, &vectors);
        }
    }

    /// Removes a row, and its scope with the last one.
    pub(crate) fn remove(&self, scope: &Scope, sequence: u64) {
        let Some(vectors) = self.scopes.read().get(scope).map(Arc::clone) else {
            return;
        };
        let mut inner = vectors.write();
        let removed = inner.remove(sequence);
        self.len.fetch_sub(usize::from(removed), Ordering::Relaxed);
        if inner.closed || !inner.rows.is_empty() {
            return;
        }
        inner.closed = true;
        drop(inner);
        self.unlist(scope, &vectors);
    }

    /// All rows of the scope at this similarity or above, the most similar first, and among equals
    /// the one that came first.
    pub(crate) fn search(&self, scope: &Scope, unit: &Unit, least: Similarity) -> Vec<Candidate> {
        let Some(vectors) = self.scopes.read().get(scope).map(Arc::clone) else {
            return Vec::new();
        };
        let mut candidates = vectors.read().search(unit.as_slice(), least);
        candidates.sort_unstable_by(|one, two| {
            two.similarity
                .cmp(&one.similarity)
                .then(one.row.sequence.cmp(&two.row.sequence))
        });
        candidates
    }

    fn unlist(&self, scope: &Scope, vectors: &Arc<RwLock<Vectors>>) {
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

// === impl Vectors ===

impl Vectors {
    fn insert(&mut self, row: Row, coordinates: &[f32]) -> bool {
        if self.rows.is_empty() {
            self.dimensions = coordinates.len();
        }
        let Ok(place) = u32::try_from(self.rows.len()) else {
            return false;
        };
        if self.dimensions != coordinates.len() {
            return false;
        }
        // By a quarter instead of twofold: the slack is counted to every entry.
        if self.coordinates.capacity() - self.coordinates.len() < self.dimensions {
            let more = self.rows.len() / 4 + 1;
            self.coordinates.reserve_exact(more * self.dimensions);
            self.rows.reserve_exact(more);
        }
        self.coordinates.extend_from_slice(coordinates);
        self.rows.push(row);
        self.by_sequence.insert(row.sequence, place);
        true
    }

    fn remove(&mut self, sequence: u64) -> bool {
        let Some(place) = self.by_sequence.remove(&sequence) else {
            return false;
        };
        let place = place as usize;
        let last = self.rows.len().saturating_sub(1);
        self.rows.swap_remove(place);
        let tail = last * self.dimensions;
        if place != last {
            self.coordinates
                .copy_within(tail.., place * self.dimensions);
            if let Some(moved) = self.rows.get(place) {
                self.by_sequence.insert(moved.sequence, place as u32);
            }
        }
        self.coordinates.truncate(tail);
        if self.coordinates.capacity() > 2 * self.coordinates.len() {
            let kept = self.rows.len() + self.rows.len() / 4;
            self.coordinates.shrink_to(kept * self.dimensions);
            self.rows.shrink_to(kept);
            self.by_sequence.shrink_to(kept);
        }
        true
    }

    fn search(&self, asked: &[f32], least: Similarity) -> Vec<Candidate> {
        if self.dimensions != asked.len() || self.rows.is_empty() {
            return Vec::new();
        }
        let vectors = self.coordinates.chunks_exact(self.dimensions);
        vectors
            .zip(&self.rows)
            .filter_map(|(vector, row)| {
                let similarity = Similarity::new(dot(asked, vector))?;
                (similarity >= least).then_some(Candidate {
                    similarity,
                    row: *row,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::Threshold;
    use crate::scope::Secret;
    use crate::vector::Vector;
    use proptest::prelude::*;

    const SECRET: Secret = Secret::from_bytes([3; 32]);

    fn unit(seed: u64) -> Unit {
        let coordinates = (0..5)
            .map(|i| ((seed * 31 + i) as f32 * 0.7).sin())
            .collect::<Vec<_>>();
        Unit::new(Vector::from(coordinates)).expect("finite")
    }

    fn row(sequence: u64) -> Row {
        let scope = SECRET.scope(&[]);
        Row {
            sequence,
            key: SECRET.entry(&scope, &sequence.to_le_bytes()),
        }
    }

    #[test]
    fn a_vector_of_another_length_is_refused_and_finds_nothing() {
        let (index, scope) = (Index::default(), SECRET.scope(&[]));
        let short = Unit::new(Vector::from(vec![1.0, 0.0])).expect("finite");
        assert!(index.insert(&scope, row(1), &unit(1)));
        assert!(!index.insert(&scope, row(2), &short));
        let least = Threshold::new(1e-6).expect("valid").similarity();
        assert!(index.search(&scope, &short, least).is_empty());
        index.remove(&scope, 1);
        assert!(
            index.insert(&scope, row(3), &short),
            "an empty scope takes any length"
        );
    }

    #[test]
    fn an_empty_scope_leaves_the_map() {
        let index = Index::default();
        for n in 0..100u64 {
            let scope = SECRET.scope(&[("n", &n.to_le_bytes())]);
            assert!(index.insert(&scope, row(n), &unit(n)));
            index.remove(&scope, n);
        }
        assert!(index.scopes.read().is_empty());
    }

    proptest! {
        #[test]
        fn a_search_finds_what_a_plain_list_would(
            steps in prop::collection::vec((0..3u8, 0..40u64), 1..120),
            asked in 0..40u64,
        ) {
            let (index, scope) = (Index::default(), SECRET.scope(&[]));
            let mut model: Vec<u64> = Vec::new();
            for (kind, n) in steps {
                if kind > 0 && !model.contains(&n) {
                    prop_assert!(index.insert(&scope, row(n), &unit(n)));
                    model.push(n);
                } else {
                    index.remove(&scope, n);
                    model.retain(|other| *other != n);
                }
            }
            let least = Threshold::new(0.2).expect("valid").similarity();
            let mut expected: Vec<_> = model
                .iter()
                .filter_map(|n| {
                    let cosine = dot(unit(asked).as_slice(), unit(*n).as_slice());
                    Similarity::new(cosine).filter(|s| *s >= least).map(|s| (s, *n))
                })
                .collect();
            expected.sort_by_key(|(similarity, n)| (std::cmp::Reverse(*similarity), *n));
            let found: Vec<_> = index
                .search(&scope, &unit(asked), least)
                .into_iter()
                .map(|found| (found.similarity, found.row.sequence))
                .collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(index.len(), model.len());
        }
    }
}
