//! Counts and times every request, from its head to the last byte of its answer, and notes callers who leave.
//!
//! # Back-pressure
//! As the inner service.
//!
//! # Cancellation
//! A future or body dropped before its end is a caller who left, and so is one whose request breaks off: logged as 499 with the
//! stage it had reached, and counted.
//!
//! # Errors
//! The inner service's.
//!
//! # Panics
//! None.

use crate::errors::CallerLeft;
use crate::journey::{Journey, Stage};
use crate::metrics::Metrics;
use crate::routes::Route;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tower_layer::Layer;
use tower_service::Service;

/// Observes each request.
#[derive(Clone, Debug)]
pub struct ObserveLayer {
    metrics: Arc<Metrics>,
}

impl ObserveLayer {
    /// Counts into `metrics`.
    #[must_use]
    pub const fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics }
    }
}

impl<S> Layer<S> for ObserveLayer {
    type Service = Observe<S>;
    fn layer(&self, inner: S) -> Observe<S> {
        Observe {
            inner,
            metrics: self.metrics.clone(),
        }
    }
}

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Observe<S> {
    inner: S,
    metrics: Arc<Metrics>,
}

impl<S, Q, B> Service<Request<Q>> for Observe<S>
where
    S: Service<Request<Q>, Response = Response<B>>,
    B: Body,
{
    type Response = Response<ObservedBody<B>>;
    type Error = S::Error;
    type Future = Observed<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Q>) -> Self::Future {
        let watch = Watch::new(self.metrics.clone(), Route::of(request.uri()));
        request.extensions_mut().insert(watch.journey.clone());
        Observed {
            call: self.inner.call(request),
            watch: Some(watch),
        }
    }
}

/// One request under observation.
#[derive(Debug)]
struct Watch {
    metrics: Arc<Metrics>,
    journey: Journey,
    route: Route,
    /// Of the answer, once its head is there.
    status: Option<StatusCode>,
    ended: bool,
}

impl Watch {
    fn new(metrics: Arc<Metrics>, route: Route) -> Self {
        metrics.in_flight.inc();
        Self {
            metrics,
            journey: Journey::default(),
            route,
            status: None,
            ended: false,
        }
    }

    fn head<B>(&mut self, response: &Response<B>) {
        // Answered or not, nobody hears it.
        if response.extensions().get::<CallerLeft>().is_some() {
            return;
        }
        self.journey.enter(Stage::Answering);
        self.status = Some(response.status());
    }

    fn end(&mut self) {
        let Some(status) = self.status else { return };
        if !std::mem::replace(&mut self.ended, true) {
            // The last stage is over.
            self.journey.enter(Stage::Answering);
            self.metrics.answered(self.route, status, &self.journey);
        }
    }

    fn cut(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.metrics.cut(self.route);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.metrics.in_flight.dec();
        if !self.ended {
            let stage = self.journey.stage();
            self.metrics.left(self.route, stage);
            tracing::info!(status = 499, route = self.route.word(), stage = stage.word(), after = ?self.journey.elapsed(), "caller left");
        }
    }
}

pin_project! {
    /// A request under observation.
    #[derive(Debug)]
    pub struct Observed<F> {
        #[pin]
        call: F,
        watch: Option<Watch>,
    }
}

impl<F, B, E> Future for Observed<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
{
    type Output = Result<Response<ObservedBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = ready!(this.call.poll(cx));
        let mut watch = this.watch.take();
        Poll::Ready(match result {
            Ok(response) => {
                if let Some(watch) = &mut watch {
                    watch.head(&response);
                    // An empty body is never polled.
                    if response.body().is_end_stream() {
                        watch.end();
                    }
                }
                Ok(response.map(|body| ObservedBody { body, watch }))
            }
            Err(error) => {
                if let Some(watch) = &mut watch {
                    watch.cut();
                }
                Err(error)
            }
        })
    }
}

pin_project! {
    /// An answer under observation.
    #[derive(Debug)]
    pub struct ObservedBody<B> {
        #[pin]
        body: B,
        watch: Option<Watch>,
    }
}

impl<B: Body> Body for ObservedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        if let Some(watch) = this.watch {
            match &frame {
                Some(Err(_)) => watch.cut(),
                None => watch.end(),
                Some(Ok(_)) if this.body.is_end_stream() => watch.end(),
                Some(Ok(_)) => {}
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
