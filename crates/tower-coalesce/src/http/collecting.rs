use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request};
use http_body::Body;
use pin_project_lite::pin_project;
use tower::BoxError;
use tower::util::Oneshot;
use tower_service::Service;

use super::collect::PayloadTooLarge;
use super::collected::Collected;

pin_project! {
    /// Response future of [`Collect`](super::Collect) and [`CollectIf`](super::CollectIf).
    pub struct CollectFuture<S, B, T = Collected>
    where
        S: Service<Request<T>>,
    {
        #[pin]
        state: State<S, B, T>,
        limit: usize,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, B, T>
    where
        S: Service<Request<T>>,
    {
        Collecting {
            #[pin]
            body: B,
            head: Option<(S, http::request::Parts)>,
            data: Data,
            trailers: Option<HeaderMap>,
        },
        Calling { #[pin] call: Oneshot<S, Request<T>> },
    }
}

/// Frames so far. One frame, which most bodies are, is not copied.
#[derive(Debug)]
enum Data {
    One(Bytes),
    Many(BytesMut),
}

// === impl CollectFuture ===

impl<S, B, T> CollectFuture<S, B, T>
where
    S: Service<Request<T>>,
{
    /// Collects the body, then calls the service.
    pub(super) fn collect(inner: S, request: Request<B>, limit: usize) -> Self {
        let (parts, body) = request.into_parts();
        let state = State::Collecting {
            body,
            head: Some((inner, parts)),
            data: Data::One(Bytes::new()),
            trailers: None,
        };
        Self { state, limit }
    }

    /// Calls the service at once.
    pub(super) fn call(inner: S, request: Request<T>, limit: usize) -> Self {
        let call = Oneshot::new(inner, request);
        Self {
            state: State::Calling { call },
            limit,
        }
    }
}

impl<S, B, T> Future for CollectFuture<S, B, T>
where
    S: Service<Request<T>>,
    T: From<Collected>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Output = Result<S::Response, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let too_large = PayloadTooLarge::new(*this.limit);
        let request = match this.state.as_mut().project() {
            StateProj::Calling { call } => return call.poll(cx).map_err(Into::into),
            StateProj::Collecting {
                mut body,
                head,
                data,
                trailers,
            } => {
                // What the body says of itself is believed only where it refuses.
                let known = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
                if known.saturating_add(data.len()) > *this.limit {
                    return Poll::Ready(Err(too_large.into()));
                }
                while !body.is_end_stream() {
                    let Some(frame) = ready!(body.as_mut().poll_frame(cx)) else {
                        break;
                    };
                    match frame.map_err(Into::into)?.into_data() {
                        Ok(more) if data.len().saturating_add(more.len()) > *this.limit => {
                            return Poll::Ready(Err(too_large.into()));
                        }
                        Ok(more) => data.push(more),
                        Err(frame) => *trailers = frame.into_trailers().ok(),
                    }
                }
                let body = Collected::new(data.take(), trailers.take());
                head.take()
                    .map(|(inner, parts)| (inner, Request::from_parts(parts, body.into())))
            }
        };
        // A future that is polled after an error finds its head gone only if it had got this far before.
        let Some((inner, request)) = request else {
            return Poll::Ready(Err(too_large.into()));
        };
        this.state.set(State::Calling {
            call: Oneshot::new(inner, request),
        });
        match this.state.project() {
            StateProj::Calling { call } => call.poll(cx).map_err(Into::into),
            StateProj::Collecting { .. } => Poll::Ready(Err(too_large.into())),
        }
    }
}

impl<S, B, T> fmt::Debug for CollectFuture<S, B, T>
where
    S: Service<Request<T>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectFuture").finish_non_exhaustive()
    }
}

// === impl Data ===

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::One(data) => data.len(),
            Self::Many(data) => data.len(),
        }
    }

    fn push(&mut self, more: Bytes) {
        match self {
            Self::One(first) if first.is_empty() => *first = more,
            Self::One(first) => {
                let mut all = BytesMut::with_capacity((first.len() + more.len()) * 2);
                all.extend_from_slice(first);
                all.extend_from_slice(&more);
                *self = Self::Many(all);
            }
            Self::Many(all) => all.extend_from_slice(&more),
        }
    }

    fn take(&mut self) -> Bytes {
        match std::mem::replace(self, Self::One(Bytes::new())) {
            Self::One(data) => data,
            Self::Many(data) => data.freeze(),
        }
    }
}
