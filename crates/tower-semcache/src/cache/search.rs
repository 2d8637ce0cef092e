use tokio::time::Instant;

use super::entry::Hit;
use super::index::Row;
use super::store::Cache;
use crate::guard::Guard;
use crate::lookup::Lookup;
use crate::matching::Threshold;
use crate::outcome::Detail;
use crate::vector::Unit;

/// How many candidates a guard looks at in one search, the most similar first.
const MAX_GUARDED: usize = 1_024;

// === impl Cache ===

impl<V> Cache<V> {
    /// The answer to the most similar request of the same scope that is live, admitted by the
    /// caller and accepted by the guard.
    pub(crate) fn nearest<G>(
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
        let candidates = self
            .inner
            .index
            .search(&lookup.scope, unit, threshold.similarity());
        let now = Instant::now();
        for candidate in candidates.iter().take(MAX_GUARDED) {
            let Row { sequence, key } = candidate.row;
            let entry = self.shard(&key).and_then(|shard| shard.lock().peek(&key));
            let Some(entry) = entry.filter(|entry| entry.sequence == sequence) else {
                continue;
            };
            if !entry.is_live(now) {
                // Takes it out, and its row with it.
                self.touch(&key, now);
                continue;
            }
            let admitted = lookup.control.admits(entry.age(now), entry.remaining(now));
            if !admitted || entry.scope != lookup.scope {
                continue;
            }
            let Some(cached) = entry.text.as_deref() else {
                continue;
            };
            let verdict = guard.accepts_at(asked, cached, candidate.similarity);
            if !verdict.is_accept() {
                self.inner.counters.guard_rejected.add(1);
                continue;
            }
            self.touch(&key, now);
            let detail = Detail::Semantic {
                similarity: candidate.similarity,
            };
            return Some(Hit::new(entry, detail, now));
        }
        None
    }
}
