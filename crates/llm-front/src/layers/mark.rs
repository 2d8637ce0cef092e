//! Notes where a request comes by: from here on its time counts to the named stage.
//!
//! # Back-pressure
//! As the inner service.
//!
//! # Cancellation
//! Nothing is held.
//!
//! # Errors
//! The inner service's.
//!
//! # Panics
//! None.

use crate::journey::{Journey, Stage};
use http::Request;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// Puts a [`Mark`] before a service.
#[derive(Clone, Copy, Debug)]
pub struct MarkLayer {
    stage: Stage,
}

impl MarkLayer {
    /// Where `stage` begins.
    #[must_use]
    pub const fn new(stage: Stage) -> Self {
        Self { stage }
    }
}

impl<S> Layer<S> for MarkLayer {
    type Service = Mark<S>;
    fn layer(&self, inner: S) -> Mark<S> {
        Mark {
            inner,
            stage: self.stage,
        }
    }
}

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Mark<S> {
    inner: S,
    stage: Stage,
}

impl<S, Q> Service<Request<Q>> for Mark<S>
where
    S: Service<Request<Q>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        if let Some(journey) = request.extensions().get::<Journey>() {
            journey.enter(self.stage);
        }
        self.inner.call(request)
    }
}
