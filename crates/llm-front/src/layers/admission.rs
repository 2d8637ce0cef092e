//! Places at the backend: as many requests at one time as it takes, the others wait, but not for ever.
//!
//! # Back-pressure
//! Always ready. A request waits for its place inside its own future, in order of arrival, at most [`wait`]; beyond it, it is
//! refused with 503 and `Retry-After`. Hits and followers never come here: this layer stands below the cache.
//!
//! [`wait`]: AdmissionLayer::new
//!
//! # Cancellation
//! Dropping the future gives up the place in the queue; the place itself lives in the response body, to its end.
//!
//! # Errors
//! [`Refusal`] when no place came free in time; else the inner service's.
//!
//! # Panics
//! None.

use super::held::Held;
use super::shared::{Driven, drive};
use crate::errors::Refusal;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either};
use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::{BoxError, ServiceExt};
use tower_layer::Layer;
use tower_service::Service;

/// Bounds the requests at the backend. Clones share the places.
#[derive(Clone, Debug)]
pub struct AdmissionLayer {
    places: Arc<Semaphore>,
    wait: Duration,
}

impl AdmissionLayer {
    /// `places` requests at one time; the others wait for at most `wait`.
    #[must_use]
    pub fn new(places: usize, wait: Duration) -> Self {
        Self {
            places: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
            wait,
        }
    }

    /// The places, to be counted.
    #[must_use]
    pub fn places(&self) -> Arc<Semaphore> {
        self.places.clone()
    }
}

impl<S> Layer<S> for AdmissionLayer {
    type Service = Admission<S>;
    fn layer(&self, inner: S) -> Admission<S> {
        Admission {
            inner,
            layer: self.clone(),
        }
    }
}

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Admission<S> {
    inner: S,
    layer: AdmissionLayer,
}

impl<S, Q, B> Service<Request<Q>> for Admission<S>
where
    S: Service<Request<Q>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
{
    type Response = Response<Held<B, Option<OwnedSemaphorePermit>>>;
    type Error = BoxError;
    type Future = Placing<S, Request<Q>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let inner = self.inner.clone();
        match self.layer.places.clone().try_acquire_owned() {
            Ok(place) => Placing {
                call: drive(inner, request),
                wait: None,
                place: Some(place),
            },
            // Only those who wait need a queue and a timer. The call itself is not made before there is a place.
            Err(_) => Placing {
                call: Either::Right(inner.oneshot(request)),
                wait: Some(self.layer.clone().wait().boxed()),
                place: None,
            },
        }
    }
}

impl AdmissionLayer {
    /// Waits for a place, in order of arrival.
    async fn wait(self) -> Result<OwnedSemaphorePermit, Refusal> {
        let wait = self.wait;
        let place = tokio::time::timeout(wait, self.places.acquire_owned()).await;
        place.ok().and_then(Result::ok).ok_or_else(|| {
            let message = format!("the backend is full: no place came free in {wait:?}");
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message)
                .code("backend_full")
                .retry_after(Duration::from_secs(1))
        })
    }
}

pin_project! {
    /// A request that waits for its place, or has it.
    pub struct Placing<S, R>
    where
        S: Service<R>,
    {
        #[pin]
        call: Driven<S, R>,
        wait: Option<BoxFuture<'static, Result<OwnedSemaphorePermit, Refusal>>>,
        place: Option<OwnedSemaphorePermit>,
    }
}

impl<S, R, B> Future for Placing<S, R>
where
    S: Service<R, Response = Response<B>>,
    S::Error: Into<BoxError>,
{
    type Output = Result<Response<Held<B, Option<OwnedSemaphorePermit>>>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(wait) = this.wait {
            *this.place = Some(ready!(wait.poll_unpin(cx))?);
            *this.wait = None;
        }
        let response = ready!(this.call.poll(cx)).map_err(Into::into)?;
        let place = this.place.take();
        Poll::Ready(Ok(response.map(|body| Held::new(body, place))))
    }
}

impl<S: Service<R>, R> fmt::Debug for Placing<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placing")
            .field("placed", &self.place.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http_body_util::{BodyExt, Full};

    fn layer(places: usize) -> AdmissionLayer {
        AdmissionLayer::new(places, Duration::from_secs(30))
    }

    fn answer() -> impl Service<
        Request<()>,
        Response = Response<Full<Bytes>>,
        Error = BoxError,
        Future = impl Future<Output = Result<Response<Full<Bytes>>, BoxError>> + Send,
    > + Clone
    + Send
    + 'static {
        tower::service_fn(|_: Request<()>| async {
            Ok::<_, BoxError>(Response::new(Full::new(Bytes::from_static(b"x"))))
        })
    }

    #[tokio::test(start_paused = true)]
    async fn the_place_is_held_to_the_end_of_the_body() {
        let layer = layer(1);
        let service = layer.layer(answer());
        let first = service.clone().oneshot(Request::new(())).await.unwrap();
        assert_eq!(layer.places().available_permits(), 0);
        let refused = service.clone().oneshot(Request::new(())).await.unwrap_err();
        assert_eq!(
            refused.downcast::<Refusal>().unwrap().status(),
            StatusCode::SERVICE_UNAVAILABLE
        );
        first.into_body().collect().await.unwrap();
        assert_eq!(layer.places().available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_body_gives_its_place_back() {
        let layer = layer(1);
        let service = layer.layer(answer());
        drop(service.oneshot(Request::new(())).await.unwrap());
        assert_eq!(layer.places().available_permits(), 1);
    }
}
