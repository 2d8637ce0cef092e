use std::sync::Arc;

use tower_service::Service;

use super::decider::Decider;
use super::mode::Mode;
use crate::cache::{Cache, Generation, Hit, Sequel};
use crate::guard::Guard;
use crate::lookup::Lookup;
use crate::matching::{Matching, Threshold};
use crate::outcome::{Detail, Outcome};
use crate::record::Record;
use crate::vector::Unit;

/// A request that found no equal one, and all it needs to go on.
pub(crate) struct Miss<S, Req, V> {
    pub(crate) request: Req,
    pub(crate) inner: S,
    pub(crate) cache: Cache<V>,
    pub(crate) lookup: Lookup,
    pub(crate) generation: Generation,
}

/// A miss whose text is being embedded.
pub(crate) struct Search<S, Req, V, G> {
    pub(super) miss: Miss<S, Req, V>,
    pub(super) decider: Decider<V, G>,
}

/// What a search came to.
pub(crate) enum Found<R, V> {
    /// A response, from this.
    Served(R, Detail),
    /// Nothing that may be served.
    Nothing(Onward<V>),
}

/// How a request goes on to the inner service.
pub(crate) struct Onward<V> {
    /// What follows its answer.
    pub(crate) sequel: Sequel<V>,
    /// What its response says of itself.
    pub(crate) outcome: Outcome,
}

// === impl Miss ===

impl<S, Req, V> Miss<S, Req, V> {
    /// The text to embed, when somebody can use its vector: this request, or a later one that
    /// looks for its answer.
    pub(crate) fn wants_embedding(&self) -> Option<Arc<str>> {
        let text = self.lookup.text.as_ref();
        let text = text.filter(|_| self.lookup.control.lookup || self.stores())?;
        Some(Arc::clone(text))
    }

    /// Whether the answer will be stored, if it can be.
    pub(super) fn stores(&self) -> bool {
        let control = self.lookup.allowed();
        control.store && !control.only_if_cached
    }
}

// === impl Search ===

impl<S, Req, V, G> Search<S, Req, V, G> {
    pub(crate) const fn new(miss: Miss<S, Req, V>, decider: Decider<V, G>) -> Self {
        Self { miss, decider }
    }

    pub(crate) const fn miss(&self) -> &Miss<S, Req, V> {
        &self.miss
    }

    pub(crate) fn into_miss(self) -> Miss<S, Req, V> {
        self.miss
    }

    /// The response to an equal or a similar request, or what to do without one.
    pub(crate) fn look<H>(&self, unit: Option<&Unit>, record: &H) -> Found<H::Response, V>
    where
        S: Service<Req>,
        H: Record<Req, S::Response, Value = V>,
        G: Guard,
    {
        // Once more the exact tier: an equal request may have been answered meanwhile.
        let equal = self.miss.cache.get(&self.miss.lookup);
        if let Some(served) = equal.and_then(|hit| self.serve(&hit, record)) {
            return served;
        }
        let Some(unit) = unit else {
            return Found::Nothing(Onward::default());
        };
        match (self.miss.lookup.matching, &self.decider.bounded) {
            (Matching::Threshold(threshold), _) => self.reach(threshold, unit, record),
            (Matching::Bounded, Some(bounded)) => self.decide(bounded, unit, record),
            (Matching::Bounded, None) | (Matching::Exact, _) => Found::Nothing(Onward::default()),
        }
    }

    /// Has the threshold decide.
    fn reach<H>(&self, threshold: Threshold, unit: &Unit, record: &H) -> Found<H::Response, V>
    where
        S: Service<Req>,
        H: Record<Req, S::Response, Value = V>,
        G: Guard,
    {
        let Miss { cache, lookup, .. } = &self.miss;
        let guard = self.decider.guard.as_ref();
        let nothing = || Found::Nothing(Onward::default());
        let Some(hit) = cache.peek_nearest(lookup, unit, threshold, guard) else {
            return nothing();
        };
        match (self.decider.mode, self.serve(&hit, record)) {
            (_, None) => nothing(),
            (Mode::Serve, Some(served)) => {
                cache.used(&hit);
                served
            }
            (Mode::Shadow, Some(_)) => Found::Nothing(self.would_be(&hit.detail(), Sequel::None)),
        }
    }

    pub(super) fn serve<H>(&self, hit: &Hit<V>, record: &H) -> Option<Found<H::Response, V>>
    where
        S: Service<Req>,
        H: Record<Req, S::Response, Value = V>,
    {
        let response = record.replay(hit, &self.miss.request)?;
        Some(Found::Served(response, hit.detail()))
    }

    /// A similar answer that is not served: only said, and counted.
    pub(super) fn would_be(&self, detail: &Detail, sequel: Sequel<V>) -> Onward<V> {
        let outcome = match *detail {
            Detail::Exact => Outcome::Miss,
            Detail::Semantic { similarity } => {
                self.miss.cache.counters().hits_shadow.add(1);
                Outcome::Shadow { similarity }
            }
        };
        Onward { sequel, outcome }
    }
}

// === impl Onward ===

impl<V> Default for Onward<V> {
    /// A plain miss.
    fn default() -> Self {
        Sequel::None.into()
    }
}

impl<V> From<Sequel<V>> for Onward<V> {
    fn from(sequel: Sequel<V>) -> Self {
        let outcome = Outcome::Miss;
        Self { sequel, outcome }
    }
}
