use std::sync::atomic::Ordering;

use tokio::time::Instant;

use super::hit::Hit;
use super::index::{Candidate, Depth};
use super::store::Cache;
use crate::guard::Guard;
use crate::lookup::Lookup;
use crate::matching::Threshold;
use crate::outcome::Detail;
use crate::vector::{Unit, Vector};

/// How many candidates a guard looks at in one search, the most similar first.
const MAX_GUARDED: usize = 1_024;

// === impl Cache ===

impl<V> Cache<V> {
    /// The answer to the most similar request of the same scope, if there is one at `threshold` or
    /// above that is live, admitted by the caller and accepted by the guard.
    ///
    /// `vector` is that of the look-up's text. Of a [`Matching`](crate::Matching) nothing is read: whoever
    /// calls this has decided how to match. No counter of hits moves.
    #[must_use]
    pub fn get_similar<G>(
        &self,
        lookup: &Lookup,
        vector: Vector,
        threshold: Threshold,
        guard: &G,
    ) -> Option<Hit<V>>
    where
        G: Guard,
    {
        let Some(unit) = Unit::new(vector) else {
            self.inner.counters.embeddings_invalid.add(1);
            return None;
        };
        let hit = self.peek_nearest(lookup, &unit, threshold, guard)?;
        self.used(&hit);
        Some(hit)
    }

    /// Counts a semantic hit as served: it is the most recently used entry now.
    pub(crate) fn used(&self, hit: &Hit<V>) {
        self.touch(&hit.entry.id.key, Instant::now());
        hit.entry
            .trust
            .served_semantic
            .fetch_add(1, Ordering::Relaxed);
    }

    /// [`Cache::get_similar`] of a vector that has been checked, without counting it as used.
    pub(crate) fn peek_nearest<G>(
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
        let (scope, least) = (&lookup.scope, threshold.similarity());
        // Most guards accept the nearest. Who rejects it pays for another search.
        let mut looked_at = Vec::new();
        for depth in [Depth::Nearest, Depth::Near, Depth::Deep] {
            let mut found = self.inner.index.search(scope, unit, least, depth);
            found
                .candidates
                .retain(|candidate| looked_at.binary_search(&candidate.id.sequence).is_err());
            found.candidates.truncate(MAX_GUARDED - looked_at.len());
            let hit = self.first_accepted(lookup, asked, &found.candidates, guard);
            if hit.is_some() || !found.more {
                return hit;
            }
            looked_at.extend(found.candidates.iter().map(|c| c.id.sequence));
            looked_at.sort_unstable();
        }
        None
    }

    fn first_accepted<G>(
        &self,
        lookup: &Lookup,
        asked: &str,
        candidates: &[Candidate],
        guard: &G,
    ) -> Option<Hit<V>>
    where
        G: Guard,
    {
        let (now, own) = (Instant::now(), self.own(lookup));
        for candidate in candidates {
            let Some(entry) = self.usable(lookup, candidate.id, now) else {
                continue;
            };
            let Some(cached) = entry.text.as_deref() else {
                continue;
            };
            if self.vetoed(lookup, own.as_ref(), &entry) {
                continue;
            }
            let verdict = guard.accepts_at(asked, cached, candidate.similarity);
            if !verdict.is_accept() {
                self.inner.counters.guard_rejected.add(1);
                continue;
            }
            let detail = Detail::Semantic {
                similarity: candidate.similarity,
            };
            return Some(Hit::new(entry, detail, now));
        }
        None
    }
}
