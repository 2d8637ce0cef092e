//! The edge cap: so many requests inside, beyond it 503 at once.
//!
//! # Back-pressure
//! Always ready: a request over the cap is refused at once, it never waits.
//!
//! # Cancellation
//! A request counts until its response body has ended or was dropped.
//!
//! # Errors
//! A response with status 503 and `Retry-After`; else the inner service's.
//!
//! # Panics
//! None.

use super::held::Held;
use crate::errors::Refusal;
use bytes::Bytes;
use futures_util::future::{Either, Ready, ready};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower_layer::Layer;
use tower_service::Service;

/// Bounds the requests inside the gateway. Clones share the count.
#[derive(Clone, Debug)]
pub struct CapLayer {
    places: Arc<Semaphore>,
}

impl CapLayer {
    /// At most `requests` at one time.
    #[must_use]
    pub fn new(requests: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(requests.min(Semaphore::MAX_PERMITS))),
        }
    }
}

impl<S> Layer<S> for CapLayer {
    type Service = Cap<S>;
    fn layer(&self, inner: S) -> Cap<S> {
        Cap {
            inner,
            places: self.places.clone(),
        }
    }
}

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Cap<S> {
    inner: S,
    places: Arc<Semaphore>,
}

/// What a capped service answers with.
pub type CapBody<B> = http_body_util::Either<Held<B, Option<OwnedSemaphorePermit>>, Full<Bytes>>;

impl<S, Q, B> Service<Request<Q>> for Cap<S>
where
    S: Service<Request<Q>, Response = Response<B>>,
{
    type Response = Response<CapBody<B>>;
    type Error = S::Error;
    type Future = Either<Inside<S::Future>, Ready<Result<Self::Response, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        match self.places.clone().try_acquire_owned() {
            Ok(place) => Either::Left(Inside {
                call: self.inner.call(request),
                place: Some(place),
            }),
            Err(_) => {
                let refusal = Refusal::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "too many requests at one time: try again shortly",
                )
                .code("overloaded")
                .retry_after(Duration::from_secs(1));
                Either::Right(ready(Ok(refusal.into_response().map(CapBody::Right))))
            }
        }
    }
}

pin_project! {
    /// A request inside the cap.
    #[derive(Debug)]
    pub struct Inside<F> {
        #[pin]
        call: F,
        place: Option<OwnedSemaphorePermit>,
    }
}

impl<F, B, E> Future for Inside<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<CapBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = std::task::ready!(this.call.poll(cx))?;
        let place = this.place.take();
        Poll::Ready(Ok(
            response.map(|body| CapBody::Left(Held::new(body, place)))
        ))
    }
}
