use std::sync::Arc;

use tower_service::Service;

use super::bounded::Bounded;
use super::mode::Mode;
use super::search::{Found, Onward, Search};
use super::trial::Trial;
use crate::bounded::{Candidate, Decision, NEIGHBOURS};
use crate::cache::{Neighbour, Sequel};
use crate::guard::Guard;
#[cfg(feature = "guards")]
use crate::guard::{Literal, last_message};
use crate::outcome::Detail;
use crate::record::Record;
use crate::vector::Unit;

/// Who decides whether a similar answer is served.
pub(crate) struct Decider<V, G> {
    /// The last word on a pair of texts.
    pub(crate) guard: Arc<G>,
    /// Whether what a threshold allows is served.
    pub(crate) mode: Mode,
    /// Who decides, where the look-up asks for it.
    pub(crate) bounded: Option<Bounded<V>>,
}

/// How many of the nearest texts a guard reads for a decision under a bound.
const GUARDED: usize = 8;

// === impl Decider ===

impl<V, G> Clone for Decider<V, G> {
    fn clone(&self) -> Self {
        Self {
            guard: Arc::clone(&self.guard),
            mode: self.mode,
            bounded: self.bounded.clone(),
        }
    }
}

// === impl Search ===

impl<S, Req, V, G> Search<S, Req, V, G> {
    /// Has it decided under the bound.
    pub(super) fn decide<H>(
        &self,
        bounded: &Bounded<V>,
        unit: &Unit,
        record: &H,
    ) -> Found<H::Response, V>
    where
        S: Service<Req>,
        H: Record<Req, S::Response, Value = V>,
        G: Guard,
    {
        let (cache, lookup) = (&self.miss.cache, &self.miss.lookup);
        let nothing = || Found::Nothing(Onward::default());
        // Whoever lets no answer be stored lets none be compared; and without audits nothing is served.
        let Some(asked) = lookup.text.as_ref().filter(|_| self.miss.stores()) else {
            return nothing();
        };
        let neighbours = cache.neighbours_of(lookup, unit, NEIGHBOURS);
        let candidates: Vec<_> = neighbours
            .iter()
            .enumerate()
            .map(|(at, near)| self.candidate(at < GUARDED, asked, near, record))
            .collect();
        let ticket = match bounded.decide(&candidates) {
            Decision::Serve { candidate } => {
                let near = neighbours.get(candidate);
                let hit = near.and_then(|near| cache.get_neighbour(lookup, near));
                let served = hit.and_then(|hit| self.serve(&hit, record));
                return served.unwrap_or_else(nothing);
            }
            Decision::Audit(ticket) | Decision::Explore(ticket, _) => ticket,
            Decision::Refuse(_, cluster) => {
                return Found::Nothing(Sequel::Cluster(cluster.into()).into());
            }
        };
        let near = neighbours.get(ticket.candidate());
        let shown = near
            .filter(|_| ticket.is_audit() && bounded.mode() == Mode::Shadow)
            .map(|near| Detail::Semantic {
                similarity: near.similarity,
            });
        let stored = near.and_then(|near| cache.peek_neighbour(near));
        let trial = Trial::new(
            bounded.clone(),
            ticket,
            Arc::clone(asked),
            stored,
            neighbours,
        );
        let sequel = Sequel::Trial(trial);
        Found::Nothing(match shown {
            Some(detail) => self.would_be(&detail, sequel),
            // Correctness: nothing tells an audit from a miss, or whoever answers could.
            None => sequel.into(),
        })
    }

    fn candidate<H>(&self, guarded: bool, asked: &str, near: &Neighbour, record: &H) -> Candidate
    where
        S: Service<Req>,
        H: Record<Req, S::Response, Value = V>,
        G: Guard,
    {
        let read = guarded && !near.vetoed;
        // Correctness: all that decides whether an answer can be served comes before the coin.
        let accepted = read
            && self
                .decider
                .guard
                .accepts_at(asked, &near.text, near.similarity)
                .is_accept()
            && self
                .miss
                .cache
                .peek_neighbour(near)
                .is_some_and(|hit| record.replay(&hit, &self.miss.request).is_some());
        Candidate {
            similarity: near.similarity.get(),
            cluster: near.cluster.into(),
            accepted,
            literal: read && literals_agree(asked, &near.text),
        }
    }
}

#[cfg(feature = "guards")]
fn literals_agree(asked: &str, cached: &str) -> bool {
    // Of a conversation, what is to be answered; any other text is its own last message.
    let (asked, cached) = (last_message(asked), last_message(cached));
    Literal.accepts(asked, cached).is_accept()
}

#[cfg(not(feature = "guards"))]
fn literals_agree(_: &str, _: &str) -> bool {
    true
}
