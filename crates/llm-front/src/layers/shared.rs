//! A service behind one pointer.
//!
//! The layers are always ready and drive what is inside on a clone. Without this, every layer's clone would copy all layers below
//! it; with it, a clone is one count, and each layer is copied once a call.
//!
//! # Back-pressure
//! Always ready: a call drives a fresh clone to its own readiness. One that is ready at once is called at once, without a place to
//! wait in.
//!
//! # Cancellation
//! Dropping the future drops the clone's.
//!
//! # Errors
//! The inner service's.
//!
//! # Panics
//! None.

use futures_util::future::Either;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
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

/// A call under way, or waiting for its service to be ready.
pub type Driven<S, Q> = Either<<S as Service<Q>>::Future, Oneshot<S, Q>>;

impl<S, Q> Service<Q> for Shared<S>
where
    S: Service<Q> + Clone,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Driven<S, Q>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Q) -> Self::Future {
        drive(S::clone(&self.inner), request)
    }
}

/// Calls `service` once it is ready: at once, if it is ready now.
pub fn drive<S, Q>(mut service: S, request: Q) -> Driven<S, Q>
where
    S: Service<Q>,
{
    // Correctness: whoever is not ready now is asked again by the `Oneshot`, with the waker of the task that waits.
    match service.poll_ready(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(())) => Either::Left(service.call(request)),
        Poll::Ready(Err(_)) | Poll::Pending => Either::Right(service.oneshot(request)),
    }
}
