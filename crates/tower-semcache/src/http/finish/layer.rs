use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

use super::body::FinishBody;
use super::future::FinishFuture;
use super::kept::{Kept, Kind, Wanted, drain, spawn};

/// Sees audits to their end when their callers leave.
///
/// An audit that is not finished counts as a wrong answer: a caller who hangs up would cost as much as
/// a dozen mistakes. This layer stands around a [`CacheLayer`](crate::CacheLayer). What is dropped
/// before its end goes on in a task of its own when, and only when, it is an audit; everything else
/// ends with its caller, as without the layer.
///
/// Whoever answers can tell from this, once a caller has left, that the call was an audit; not before,
/// when it decides what to answer.
///
/// # Back-pressure
///
/// As the inner service. A body that goes on without its caller is read as fast as it comes.
///
/// # Cancellation
///
/// Dropping a future or a body drops the inner one, unless it is an audit: that goes on, at most for
/// the deadline. There are never more of these than audits under way. Outside of a runtime of tokio, or
/// in one that is shutting down, nothing goes on.
///
/// # Errors
///
/// Those of the inner service.
///
/// # Panics
///
/// The layer never panics by itself; its future does when polled after completion.
#[derive(Clone, Copy, Debug)]
pub struct FinishLayer<P> {
    applies: P,
    deadline: Duration,
}

/// See [`FinishLayer`].
#[derive(Clone, Copy, Debug)]
pub struct Finish<S, P> {
    inner: S,
    applies: P,
    deadline: Duration,
}

/// How long an audit goes on without its caller, if not told otherwise.
const DEADLINE: Duration = Duration::from_secs(120);

// === impl FinishLayer ===

impl<P> FinishLayer<P> {
    /// A layer for the requests of which `applies` says that they may become audits. All others pass
    /// through: they cost no allocation.
    pub const fn new(applies: P) -> Self {
        Self {
            applies,
            deadline: DEADLINE,
        }
    }

    /// How long an audit may go on without its caller. Default: two minutes.
    #[must_use]
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

impl<S, P> Layer<S> for FinishLayer<P>
where
    P: Clone,
{
    type Service = Finish<S, P>;

    fn layer(&self, inner: S) -> Self::Service {
        Finish {
            inner,
            applies: self.applies.clone(),
            deadline: self.deadline,
        }
    }
}

// === impl Finish ===

impl<S, P> Finish<S, P> {
    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The inner service, mutably.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The inner service, without the layer.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, P, Q, B> Service<Request<Q>> for Finish<S, P>
where
    S: Service<Request<Q>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    P: Fn(&Request<Q>) -> bool,
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<FinishBody<B>>;
    type Error = S::Error;
    type Future = FinishFuture<S::Future, B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Q>) -> Self::Future {
        if !(self.applies)(&request) {
            return FinishFuture {
                kind: Kind::Plain {
                    inner: self.inner.call(request),
                },
                keep: None,
            };
        }
        let wanted = Wanted::default();
        request.extensions_mut().insert(wanted.clone());
        let kept = Kept {
            inner: Some(Box::pin(self.inner.call(request))),
            wanted,
            deadline: self.deadline,
            spawn: |call, deadline| {
                spawn(deadline, async move {
                    if let Ok(response) = call.await {
                        drain(Box::pin(response.into_body())).await;
                    }
                });
            },
        };
        FinishFuture {
            kind: Kind::Kept { inner: kept },
            keep: Some(|body, wanted, deadline| Kept {
                inner: Some(body),
                wanted,
                deadline,
                spawn: |body, deadline| spawn(deadline, drain(body)),
            }),
        }
    }
}
