use std::fmt;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use http::request::Parts;
use http_body::Body;
use tower::BoxError;
use tower_layer::Layer;
use tower_service::Service;

use super::collected::MaybeCollected;
use super::collecting::CollectFuture;

/// Collects the bodies of some requests; see [`CollectLayer::only_if`](super::CollectLayer::only_if).
///
/// # Back-pressure
/// As that of [`CollectLayer`](super::CollectLayer); a request that is not collected goes on at once.
///
/// # Cancellation
/// Dropping the future drops the body, or the inner call.
///
/// # Errors
/// Those of [`CollectLayer`](super::CollectLayer), for what is collected. There is no limit for the rest.
///
/// # Panics
/// None of its own. One in the predicate is the caller's.
#[derive(Clone, Copy)]
pub struct CollectIfLayer<P> {
    limit: usize,
    predicate: P,
}

/// Collects the bodies of some requests. See [`CollectIfLayer`].
#[derive(Clone)]
pub struct CollectIf<S, P> {
    inner: S,
    limit: usize,
    predicate: P,
}

// === impl CollectIfLayer ===

impl<P> CollectIfLayer<P> {
    pub(super) const fn new(limit: usize, predicate: P) -> Self {
        Self { limit, predicate }
    }
}

impl<S, P> Layer<S> for CollectIfLayer<P>
where
    P: Clone,
{
    type Service = CollectIf<S, P>;

    fn layer(&self, inner: S) -> CollectIf<S, P> {
        CollectIf {
            inner,
            limit: self.limit,
            predicate: self.predicate.clone(),
        }
    }
}

impl<P> fmt::Debug for CollectIfLayer<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectIfLayer")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

// === impl CollectIf ===

impl<S, P> CollectIf<S, P> {
    /// The inner service.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The inner service.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The inner service.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, P, B> Service<Request<B>> for CollectIf<S, P>
where
    S: Service<Request<MaybeCollected<B>>> + Clone,
    S::Error: Into<BoxError>,
    P: Fn(&Parts) -> bool,
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = CollectFuture<S, B, MaybeCollected<B>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (head, body) = request.into_parts();
        let collects = (self.predicate)(&head);
        let request = Request::from_parts(head, body);
        if collects {
            CollectFuture::collect(self.inner.clone(), request, self.limit)
        } else {
            let request = request.map(MaybeCollected::streaming);
            CollectFuture::call(self.inner.clone(), request, self.limit)
        }
    }
}

impl<S, P> fmt::Debug for CollectIf<S, P>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectIf")
            .field("inner", &self.inner)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
