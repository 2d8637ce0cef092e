//! The semantic tier: who embeds, who has the last word, and who decides under a bound.

mod again;
mod bounded;
mod case;
mod decider;
mod mode;
mod search;
mod trial;
mod worker;

use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tower_service::Service;

use crate::matching::Matching;
use crate::vector::Vector;

pub use again::Again;
pub use bounded::{Bounded, Judged};
pub use mode::Mode;
pub use worker::Worker;

pub(crate) use decider::Decider;
pub(crate) use search::{Found, Miss, Onward, Search};
pub(crate) use trial::Trial;

/// The semantic tier of a cache layer: who embeds, how long it may take, who decides.
pub(crate) struct Semantic<V, E, G> {
    pub(crate) embedder: E,
    pub(crate) deadline: Duration,
    pub(crate) decider: Decider<V, G>,
}

/// The embedder of a layer without a semantic tier. It is never called.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NoEmbedder;

// === impl Semantic ===

impl<V, E, G> Semantic<V, E, G> {
    /// Whether anything can come of a search.
    pub(crate) fn knows(&self, matching: Matching) -> bool {
        match matching {
            Matching::Exact => false,
            Matching::Threshold(_) => true,
            Matching::Bounded => self.decider.bounded.is_some(),
        }
    }
}

impl<V, E, G> Clone for Semantic<V, E, G>
where
    E: Clone,
{
    fn clone(&self) -> Self {
        Self {
            // A clone of a service that was never polled ready: readiness starts anew in it.
            embedder: self.embedder.clone(),
            deadline: self.deadline,
            decider: self.decider.clone(),
        }
    }
}

impl<V, E, G> fmt::Debug for Semantic<V, E, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semantic")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

// === impl NoEmbedder ===

impl Service<Arc<str>> for NoEmbedder {
    type Response = Vector;
    type Error = Infallible;
    type Future = Ready<Result<Vector, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Arc<str>) -> Self::Future {
        ready(Ok(Vector::from(Vec::new())))
    }
}
