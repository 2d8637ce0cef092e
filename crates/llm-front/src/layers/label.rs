//! Says where each answer came from and how long it took: `Cache-Status` and `Server-Timing` for the caller, the [`Journey`] for
//! the metrics. Where rephrased requests are matched, names it too: [`ANSWER`].
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

use crate::asked::{Asked, Carry};
use crate::journey::{Journey, Stage};
use crate::receipts::ANSWER;
use crate::source::Label;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tower_coalesce::Role;
use tower_layer::Layer;
use tower_semcache::Outcome;
use tower_service::Service;

/// The header that says where an answer came from.
pub const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// The header that says how long each stage took, up to the answer's head.
pub const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Labels each response.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelLayer;

impl<S> Layer<S> for LabelLayer {
    type Service = Labelled<S>;
    fn layer(&self, inner: S) -> Labelled<S> {
        Labelled { inner }
    }
}

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Labelled<S> {
    inner: S,
}

impl<S, Q, B> Service<Request<Q>> for Labelled<S>
where
    S: Service<Request<Q>, Response = Response<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Labelling<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let asked = request.asked().cloned();
        let journey = request.extensions().get().cloned();
        Labelling {
            call: self.inner.call(request),
            asked,
            journey,
        }
    }
}

pin_project! {
    /// A response about to be labelled.
    #[derive(Debug)]
    pub struct Labelling<F> {
        #[pin]
        call: F,
        asked: Option<Arc<Asked>>,
        journey: Option<Journey>,
    }
}

impl<F, B, E> Future for Labelling<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<B>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut response = ready!(this.call.poll(cx))?;
        let extensions = response.extensions();
        let label = match this.asked {
            Some(asked) => Label::of(asked, extensions.get::<Outcome>(), extensions.get::<Role>()),
            None => Label::OPAQUE,
        };
        let name = this
            .asked
            .as_deref()
            .and_then(|asked| name(asked, &response));
        let headers = response.headers_mut();
        headers.insert(CACHE_STATUS, label.cache_status());
        if let Some(name) = name {
            headers.insert(ANSWER, name);
        }
        if let Some(journey) = this.journey {
            journey.answered_from(label.source);
            journey.enter(Stage::Answering);
            // Beside what a server behind this one says of itself.
            if let Ok(timing) = HeaderValue::try_from(journey.server_timing()) {
                headers.append(SERVER_TIMING, timing);
            }
        }
        Poll::Ready(Ok(response))
    }
}

/// The name of an answer, where answers have names.
fn name<B>(asked: &Asked, response: &Response<B>) -> Option<HeaderValue> {
    let receipts = asked.receipts.as_ref()?;
    let lookup = asked.key.as_ref().ok()?;
    // Whoever joined a call that another one led, or missed where nothing is kept, has a fresh answer too.
    let outcome = response.extensions().get().unwrap_or(&Outcome::Miss);
    (response.status() == StatusCode::OK)
        .then(|| receipts.name(lookup, outcome))
        .flatten()
}
