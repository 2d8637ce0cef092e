use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tower_service::Service;

use crate::vector::Vector;

/// The semantic tier of a cache layer: who embeds, who has the last word, how long it may take.
pub(crate) struct Semantic<E, G> {
    pub(crate) embedder: E,
    pub(crate) guard: Arc<G>,
    pub(crate) deadline: Duration,
}

/// The embedder of a layer without a semantic tier. It is never called.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NoEmbedder;

// === impl Semantic ===

impl<E, G> Clone for Semantic<E, G>
where
    E: Clone,
{
    fn clone(&self) -> Self {
        Self {
            // A clone of a service that was never polled ready: readiness starts anew in it.
            embedder: self.embedder.clone(),
            guard: Arc::clone(&self.guard),
            deadline: self.deadline,
        }
    }
}

impl<E, G> fmt::Debug for Semantic<E, G> {
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
