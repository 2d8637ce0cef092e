use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::time::Instant;

use super::entry::EntryId;
use super::hit::Hit;
use super::index::Depth;
use super::store::Cache;
use crate::lookup::Lookup;
use crate::matching::Similarity;
use crate::outcome::Detail;
use crate::vector::{Unit, Vector};

/// A stored request near an asked one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Neighbour {
    /// Its entry.
    pub entry: EntryId,
    /// The cosine between the two texts.
    pub similarity: Similarity,
    /// Its text.
    pub text: Arc<str>,
    /// Entries of one cluster are known to have the same answer.
    pub cluster: u64,
    /// It was judged to have another answer than the asked request: it must not serve it.
    pub vetoed: bool,
}

// === impl Cache ===

impl<V> Cache<V> {
    /// The `k` stored requests of the scope whose texts are most similar to this vector, the most similar
    /// first, live and admitted by the caller; whatever their similarity.
    ///
    /// Nothing is counted as used. Empty for a vector without a direction, or a look-up without a text.
    #[must_use]
    pub fn neighbours(&self, lookup: &Lookup, vector: Vector, k: usize) -> Vec<Neighbour> {
        let unit = Unit::new(vector);
        unit.map_or_else(Vec::new, |unit| self.neighbours_of(lookup, &unit, k))
    }

    pub(crate) fn neighbours_of(&self, lookup: &Lookup, unit: &Unit, k: usize) -> Vec<Neighbour> {
        let all = Similarity::new(-1.0);
        let Some(least) = all.filter(|_| lookup.control.lookup && lookup.text.is_some()) else {
            return Vec::new();
        };
        let found = self
            .inner
            .index
            .search(&lookup.scope, unit, least, Depth::Near);
        let (now, own) = (Instant::now(), self.own(lookup));
        let neighbours = found.candidates.into_iter().filter_map(|candidate| {
            let entry = self.usable(lookup, candidate.id, now)?;
            Some(Neighbour {
                entry: entry.id,
                similarity: candidate.similarity,
                text: Arc::clone(entry.text.as_ref()?),
                cluster: entry.trust.cluster.load(Ordering::Relaxed),
                vetoed: self.vetoed(lookup, own.as_ref(), &entry),
            })
        });
        neighbours.take(k).collect()
    }

    /// The answer of a neighbour, as a semantic hit: unless it has left meanwhile, or must not serve this
    /// request. No counter of hits moves.
    #[must_use]
    pub fn get_neighbour(&self, lookup: &Lookup, neighbour: &Neighbour) -> Option<Hit<V>> {
        if !lookup.control.lookup {
            return None;
        }
        let now = Instant::now();
        let entry = self.usable(lookup, neighbour.entry, now)?;
        if self.vetoed(lookup, self.own(lookup).as_ref(), &entry) {
            return None;
        }
        self.touch(&entry.id.key, now);
        entry.trust.served_semantic.fetch_add(1, Ordering::Relaxed);
        let similarity = neighbour.similarity;
        Some(Hit::new(entry, Detail::Semantic { similarity }, now))
    }

    /// The answer of a neighbour, to be compared, not served: nothing is counted as used.
    pub(crate) fn peek_neighbour(&self, neighbour: &Neighbour) -> Option<Hit<V>> {
        let entry = self.find(neighbour.entry)?;
        let similarity = neighbour.similarity;
        Some(Hit::new(
            entry,
            Detail::Semantic { similarity },
            Instant::now(),
        ))
    }

    /// Puts an entry into an answer cluster. A new entry is in one of its own; [`Cache::provenance`] and
    /// [`Neighbour`] say which. `false` when it has left.
    #[expect(
        clippy::must_use_candidate,
        reason = "who is too late has nothing to do about it"
    )]
    pub fn set_cluster(&self, entry: EntryId, cluster: u64) -> bool {
        let found = self.find(entry);
        if let Some(entry) = &found {
            entry.trust.cluster.store(cluster, Ordering::Relaxed);
        }
        found.is_some()
    }
}
