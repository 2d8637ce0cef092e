//! A service behind one pointer.
//!
//! The layers are always ready and drive what is inside on a clone. Without this, every layer's clone would copy all layers below
//! it; with it, a clone is one count, and each layer is copied once a call.
//!
//! # Back-pressure
//! Always ready: a call drives a fresh clone to its own readiness. For services that are always ready themselves, or reserve
//! nothing in `poll_ready`.
//!
//! # Cancellation
//! Dropping the future drops the clone's.
//!
//! # Errors
//! The inner service's.
//!
//! # Panics
//! None.

use std::sync::Arc;
use std::task::{Context, Poll};
use tower::ServiceExt;
use tower::util::Oneshot;
use tower_service::Service;

/// See the [module docs](self).
#[derive(Debug)]
pub struct Shared<S> {
    inner: Arc<S>,
}

impl<S> Shared<S> {
    /// Shares `inner`.
    pub fn new(inner: S) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }
}

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
        }
    }
}

impl<S, Q> Service<Q> for Shared<S>
where
    S: Service<Q> + Clone,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Oneshot<S, Q>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Q) -> Self::Future {
        S::clone(&self.inner).oneshot(request)
    }
}
