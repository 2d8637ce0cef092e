use std::error::Error;
use std::fmt;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use http_body::Body;
use tower::BoxError;
use tower_layer::Layer;
use tower_service::Service;

use super::collect_if::CollectIfLayer;
use super::collected::Collected;
use super::collecting::CollectFuture;

/// Collects request bodies, up to a limit, so that a [`Policy`](crate::Policy) can look into them.
///
/// Every body is collected before the inner service is called, so what streams both ways (a gRPC call, say, that answers while
/// its requests still come) would wait for ever, and an upload over the limit fails: let those pass with
/// [`only_if`](Self::only_if).
///
/// # Back-pressure
/// Always ready. The inner service is driven to readiness after the body is there, so that a slow upload holds no place in it.
///
/// # Cancellation
/// Dropping the future drops the body, or the inner call.
///
/// # Errors
/// [`PayloadTooLarge`] as soon as the body is known to be over the limit, the body's own error, or the inner service's.
///
/// # Panics
/// None of its own.
#[derive(Clone, Copy, Debug)]
pub struct CollectLayer {
    limit: usize,
}

/// Collects request bodies. See [`CollectLayer`].
#[derive(Clone, Debug)]
pub struct Collect<S> {
    inner: S,
    limit: usize,
}

/// The request body is over the limit.
#[derive(Clone, Copy, Debug)]
pub struct PayloadTooLarge {
    limit: usize,
}

// === impl CollectLayer ===

impl CollectLayer {
    /// Bodies of up to `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { limit }
    }

    /// Collects only the bodies of requests whose head `predicate` picks. All others stream through as they come, however large:
    /// an upload, or a call that answers while it is still being asked. Behind it bodies are [`MaybeCollected`].
    ///
    /// [`MaybeCollected`]: super::MaybeCollected
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use bytes::Bytes;
    /// use http::{Request, Response};
    /// use http_body_util::Full;
    /// use tower::{ServiceBuilder, ServiceExt, service_fn};
    /// use tower_coalesce::CoalesceLayer;
    /// use tower_coalesce::http::{CollectLayer, MaybeCollected, SharedBody};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tower::BoxError> {
    /// // A body that was not collected has no key.
    /// let key = |request: &Request<MaybeCollected<Full<Bytes>>>| {
    ///     request.body().collected().map(|body| body.data().clone())
    /// };
    /// let service = ServiceBuilder::new()
    ///     .layer(CollectLayer::new(64 * 1024).only_if(|head| head.uri.path() == "/ask"))
    ///     .layer(CoalesceLayer::new(key).share_with(SharedBody::new()))
    ///     .service(service_fn(|request: Request<MaybeCollected<Full<Bytes>>>| async move {
    ///         Ok::<_, Infallible>(Response::new(request.into_body()))
    ///     }));
    ///
    /// let upload = Request::post("/files").body(Full::new(Bytes::from(vec![0; 1024 * 1024])))?;
    /// assert!(service.oneshot(upload).await?.status().is_success());
    /// # Ok(())
    /// # }
    /// ```
    pub const fn only_if<P>(self, predicate: P) -> CollectIfLayer<P>
    where
        P: Fn(&http::request::Parts) -> bool,
    {
        CollectIfLayer::new(self.limit, predicate)
    }
}

impl<S> Layer<S> for CollectLayer {
    type Service = Collect<S>;

    fn layer(&self, inner: S) -> Collect<S> {
        Collect {
            inner,
            limit: self.limit,
        }
    }
}

// === impl Collect ===

impl<S> Collect<S> {
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

impl<S, B> Service<Request<B>> for Collect<S>
where
    S: Service<Request<Collected>> + Clone,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = CollectFuture<S, B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        CollectFuture::collect(self.inner.clone(), request, self.limit)
    }
}

// === impl PayloadTooLarge ===

impl PayloadTooLarge {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit }
    }

    /// How many bytes it may have.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }
}

impl fmt::Display for PayloadTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request body is larger than {} bytes", self.limit)
    }
}

impl Error for PayloadTooLarge {}
