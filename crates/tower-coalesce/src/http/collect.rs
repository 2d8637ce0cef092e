use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tower::BoxError;
use tower::util::Oneshot;
use tower_layer::Layer;
use tower_service::Service;

/// Collects request bodies, up to a limit, so that a [`Policy`](crate::Policy) can look into them.
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

/// A whole body in memory: cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    data: Bytes,
    trailers: Option<HeaderMap>,
}

/// The request body is over the limit.
#[derive(Clone, Copy, Debug)]
pub struct PayloadTooLarge {
    limit: usize,
}

pin_project! {
    /// Response future of [`Collect`].
    pub struct CollectFuture<S, B>
    where
        S: Service<Request<Collected>>,
    {
        #[pin]
        state: State<S, B>,
        limit: usize,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, B>
    where
        S: Service<Request<Collected>>,
    {
        Collecting {
            #[pin]
            body: B,
            head: Option<(S, http::request::Parts)>,
            data: Data,
            trailers: Option<HeaderMap>,
        },
        Calling { #[pin] call: Oneshot<S, Request<Collected>> },
    }
}

/// Frames so far. One frame, which most bodies are, is not copied.
#[derive(Debug)]
enum Data {
    One(Bytes),
    Many(BytesMut),
}

// === impl CollectLayer ===

impl CollectLayer {
    /// Bodies of up to `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { limit }
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
        let (parts, body) = request.into_parts();
        let state = State::Collecting {
            body,
            head: Some((self.inner.clone(), parts)),
            data: Data::One(Bytes::new()),
            trailers: None,
        };
        CollectFuture {
            state,
            limit: self.limit,
        }
    }
}

// === impl CollectFuture ===

impl<S, B> Future for CollectFuture<S, B>
where
    S: Service<Request<Collected>>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Output = Result<S::Response, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let too_large = PayloadTooLarge { limit: *this.limit };
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
                let body = Collected {
                    data: data.take(),
                    trailers: trailers.take(),
                };
                head.take()
                    .map(|(inner, parts)| (inner, Request::from_parts(parts, body)))
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

impl<S, B> fmt::Debug for CollectFuture<S, B>
where
    S: Service<Request<Collected>>,
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

// === impl Collected ===

impl Collected {
    /// The bytes.
    #[must_use]
    pub fn data(&self) -> &Bytes {
        &self.data
    }

    /// The bytes.
    #[must_use]
    pub fn into_data(self) -> Bytes {
        self.data
    }

    /// The trailers, if there were any and they have not been read yet.
    #[must_use]
    pub fn trailers(&self) -> Option<&HeaderMap> {
        self.trailers.as_ref()
    }
}

impl From<Bytes> for Collected {
    fn from(data: Bytes) -> Self {
        Self {
            data,
            trailers: None,
        }
    }
}

impl Body for Collected {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let data = std::mem::take(&mut self.data);
        if !data.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        Poll::Ready(
            self.trailers
                .take()
                .map(|trailers| Ok(Frame::trailers(trailers))),
        )
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_empty() && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(super::pump::len(&self.data))
    }
}

// === impl PayloadTooLarge ===

impl PayloadTooLarge {
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
