use std::fmt;
use std::sync::Arc;

use super::bounded::Bounded;
use crate::bounded::Ticket;
use crate::cache::{Hit, Neighbour};

/// A would-be hit that went to the backend, to be compared with the answer from there.
///
/// Dropped without one, it failed.
pub(crate) struct Trial<V> {
    /// `None` once used.
    pending: Option<Box<Pending<V>>>,
}

struct Pending<V> {
    bounded: Bounded<V>,
    ticket: Ticket,
    asked: Arc<str>,
    /// The answer that might have been served. Held: an audit must not fail because it was evicted.
    stored: Option<Hit<V>>,
    neighbours: Vec<Neighbour>,
}

/// A comparison to be made.
pub(super) struct Work<V> {
    pub(super) ticket: Ticket,
    pub(super) asked: Arc<str>,
    pub(super) stored: Option<Hit<V>>,
    pub(super) neighbours: Vec<Neighbour>,
    pub(super) fresh: Hit<V>,
}

// === impl Trial ===

impl<V> Trial<V> {
    pub(crate) fn new(
        bounded: Bounded<V>,
        ticket: Ticket,
        asked: Arc<str>,
        stored: Option<Hit<V>>,
        neighbours: Vec<Neighbour>,
    ) -> Self {
        let pending = Pending {
            bounded,
            ticket,
            asked,
            stored,
            neighbours,
        };
        Self {
            pending: Some(Box::new(pending)),
        }
    }

    /// Whether it is an audit.
    pub(crate) fn is_audit(&self) -> bool {
        self.pending
            .as_ref()
            .is_some_and(|pending| pending.ticket.is_audit())
    }

    /// The answer is there, whole, and stored.
    pub(crate) fn answered(mut self, fresh: Hit<V>) {
        if let Some(pending) = self.pending.take() {
            let Pending {
                bounded,
                ticket,
                asked,
                stored,
                neighbours,
            } = *pending;
            bounded.submit(Work {
                ticket,
                asked,
                stored,
                neighbours,
                fresh,
            });
        }
    }
}

impl<V> Drop for Trial<V> {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            let Pending {
                bounded, ticket, ..
            } = *pending;
            bounded.give_up(ticket);
        }
    }
}

impl<V> fmt::Debug for Trial<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ticket = self.pending.as_ref().map(|pending| &pending.ticket);
        f.debug_struct("Trial")
            .field("ticket", &ticket)
            .finish_non_exhaustive()
    }
}
