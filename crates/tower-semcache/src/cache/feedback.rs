use std::sync::Arc;

use tokio::time::Instant;

use super::entry::{Entry, EntryId};
use super::store::Cache;
use super::trust::Vetoed;
use crate::lookup::Lookup;
use crate::receipt::Receipt;
use crate::scope::{Digest, Scope};

// === impl Cache ===

impl<V> Cache<V> {
    /// The entry that answers an equal request, live or not yet met as expired. It is not counted as
    /// used.
    #[must_use]
    pub fn entry(&self, lookup: &Lookup) -> Option<EntryId> {
        self.own(lookup).map(|entry| entry.id)
    }

    /// Two answers were found to be different: neither ever answers the request of the other by
    /// similarity, as long as one of the two lives.
    ///
    /// A 65th veto takes an entry out of the semantic tier: it answers equal requests only. `false` when
    /// neither lives, or they are of two scopes.
    #[expect(
        clippy::must_use_candidate,
        reason = "who is too late has nothing to do about it"
    )]
    pub fn veto(&self, one: EntryId, two: EntryId) -> bool {
        let (first, second) = (self.find(one), self.find(two));
        if let (Some(first), Some(second)) = (&first, &second)
            && first.scope != second.scope
        {
            return false;
        }
        let first = first.is_some_and(|entry| self.veto_key(&entry, two.key));
        let second = second.is_some_and(|entry| self.veto_key(&entry, one.key));
        first || second
    }

    /// As [`Cache::veto`], between an entry and a request whose own answer need not be stored.
    ///
    /// `false` when the entry has left, or is of another scope.
    pub fn veto_request(&self, lookup: &Lookup, entry: EntryId) -> bool {
        let found = self.find(entry).filter(|found| found.scope == lookup.scope);
        let Some(found) = found else {
            return false;
        };
        if let Some(own) = self.own(lookup) {
            self.veto_key(&own, entry.key);
        }
        self.veto_key(&found, lookup.key)
    }

    /// The caller of this look-up was served this entry, and the answer was bad. It leaves, and all
    /// that was promoted from it, before this returns; a new answer stored in its place does not answer
    /// this request by similarity.
    ///
    /// Of such pairs the last 4,096 are remembered (fewer in a cache below 64 MiB), beside the bound on
    /// bytes. `false` when the entry has left already, or is not of the caller's scope.
    pub fn bad(&self, lookup: &Lookup, entry: EntryId) -> bool {
        self.take_back(lookup.key, entry, Some(&lookup.scope))
    }

    /// As [`Cache::bad`], by the [`Receipt`] of the answer. A fresh answer leaves if it, or one that took its
    /// place, is stored under the request that it answered.
    ///
    /// A receipt that was [opened](Receipt::open) is trusted to be about a request of its holder.
    #[expect(
        clippy::must_use_candidate,
        reason = "who is too late has nothing to do about it"
    )]
    pub fn retract(&self, receipt: &Receipt) -> bool {
        if let Some(entry) = receipt.entry {
            return self.take_back(receipt.asked, entry, None);
        }
        let shard = self.shard(&receipt.asked);
        let removed = shard.and_then(|shard| shard.lock().remove(&receipt.asked));
        self.purged(removed.as_slice());
        removed.is_some()
    }

    fn take_back(&self, asked: Digest, entry: EntryId, scope: Option<&Scope>) -> bool {
        let Some(found) = self.find(entry) else {
            // It may be stored again.
            if entry.key != asked {
                self.inner.pairs.remember(entry.key, asked);
            }
            return false;
        };
        let found = found.origin().map_or(found.as_ref(), Arc::as_ref);
        if scope.is_some_and(|scope| found.scope != *scope) {
            return false;
        }
        if found.id.key != asked {
            self.inner.pairs.remember(found.id.key, asked);
        }
        let removed = self.take_out(found.id);
        self.inner
            .counters
            .purged
            .add(usize::from(removed.is_some()));
        removed.is_some()
    }

    /// Whether this entry must not answer this request by similarity. `own` is the request's own entry.
    pub(super) fn vetoed(
        &self,
        lookup: &Lookup,
        own: Option<&Arc<Entry<V>>>,
        entry: &Entry<V>,
    ) -> bool {
        entry.trust.vetoes(&lookup.key)
            || own.is_some_and(|own| own.trust.vetoes(&entry.id.key))
            || self.inner.pairs.contains(lookup.key, entry.id.key)
    }

    /// The request's own entry.
    pub(super) fn own(&self, lookup: &Lookup) -> Option<Arc<Entry<V>>> {
        let entry = self.shard(&lookup.key)?.lock().peek(&lookup.key)?;
        let equal = entry.scope == lookup.scope && entry.canonical == lookup.canonical;
        equal.then_some(entry)
    }

    pub(super) fn find(&self, id: EntryId) -> Option<Arc<Entry<V>>> {
        let entry = self.shard(&id.key)?.lock().peek(&id.key)?;
        (entry.id == id).then_some(entry)
    }

    /// Removes one entry, unless another has taken its place, and whatever leaves with it.
    pub(super) fn take_out(&self, id: EntryId) -> Option<Arc<Entry<V>>> {
        let removed = self.shard(&id.key)?.lock().remove_entry(id)?;
        self.unlist(&removed);
        Some(removed)
    }

    fn veto_key(&self, entry: &Entry<V>, key: Digest) -> bool {
        if entry.id.key == key {
            return false;
        }
        match entry.trust.veto(key) {
            Vetoed::Known => {}
            Vetoed::Added(bytes) => {
                let now = Instant::now();
                let shard = self.shard(&entry.id.key);
                let removed = shard.map(|shard| shard.lock().charge(entry.id, bytes, now));
                removed.into_iter().for_each(|removed| self.left(removed));
            }
            Vetoed::Exiled => {
                if let Some(slot) = &entry.slot {
                    self.inner.index.remove(&entry.scope, slot);
                }
            }
        }
        if let Some(copy) = entry.trust.copy_under(&key) {
            self.take_out(copy);
        }
        true
    }

    /// The live entry of this name, when the caller of the look-up may have it.
    pub(super) fn usable(
        &self,
        lookup: &Lookup,
        id: EntryId,
        now: Instant,
    ) -> Option<Arc<Entry<V>>> {
        let entry = self.find(id)?;
        if entry.scope != lookup.scope {
            return None;
        }
        if !entry.is_live(now) {
            // Takes it out, and its row with it.
            self.touch(&id.key, now);
            return None;
        }
        let admitted = lookup.control.admits(entry.age(now), entry.remaining(now));
        admitted.then_some(entry)
    }
}
