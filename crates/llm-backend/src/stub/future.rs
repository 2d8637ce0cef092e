//! The response future.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Buf;
use http::{Response, StatusCode};
use http_body::Body as HttpBody;
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};
use tower::BoxError;

use super::answer;
use super::body::Body;
use super::reply::Reply;
use super::request::Endpoint;
use super::service::Shared;
use crate::error::Error;

/// The largest request that is read.
const MAX_BODY: usize = 256 << 20;

pin_project! {
    /// The answer to come of a [`Stub`](super::Stub).
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<B> {
        shared: Arc<Shared>,
        #[pin]
        state: State<B>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<B> {
        Collect { endpoint: Endpoint, #[pin] body: B, read: Vec<u8> },
        Wait { sleep: Option<Pin<Box<Sleep>>>, reply: Option<Reply> },
    }
}

// === impl ResponseFuture ===

impl<B> ResponseFuture<B> {
    /// Reads a request for work, and does it.
    pub(super) fn work(shared: Arc<Shared>, endpoint: Endpoint, body: B) -> Self {
        Self {
            shared,
            state: State::Collect {
                endpoint,
                body,
                read: Vec::new(),
            },
        }
    }

    /// Answers at once.
    pub(super) fn ready(shared: Arc<Shared>, response: Response<Body>) -> Self {
        Self {
            shared,
            state: State::wait(Duration::ZERO, Reply::Response(response)),
        }
    }
}

impl<B> Future for ResponseFuture<B>
where
    B: HttpBody,
    B::Error: Into<BoxError>,
{
    type Output = Result<Response<Body>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let (delay, reply) = match this.state.as_mut().project() {
                StateProj::Collect {
                    endpoint,
                    body,
                    read,
                } => match ready!(collect(body, read, cx)) {
                    Ok(()) => this.shared.plan(*endpoint, read),
                    Err(refusal) => {
                        this.shared.counters.failed();
                        (Duration::ZERO, Reply::Response(refusal))
                    }
                },
                StateProj::Wait { sleep, reply } => {
                    if let Some(sleep) = sleep {
                        ready!(sleep.as_mut().poll(cx));
                    }
                    if let Some(reply) = reply {
                        ready!(reply.poll_begin(cx));
                    }
                    let reply = reply
                        .take()
                        .expect("a future is not polled after it is done");
                    return Poll::Ready(this.shared.give(reply));
                }
            };
            this.state.set(State::wait(delay, reply));
        }
    }
}

impl<B> fmt::Debug for ResponseFuture<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

// === impl State ===

impl<B> State<B> {
    fn wait(delay: Duration, reply: Reply) -> Self {
        // A sleep of no time would last to the timer's next tick.
        let sleep = (!delay.is_zero()).then(|| Box::pin(sleep(delay)));
        Self::Wait {
            sleep,
            reply: Some(reply),
        }
    }
}

/// Reads a body to its end; the error is what to answer instead.
fn collect<B>(
    mut body: Pin<&mut B>,
    read: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Response<Body>>>
where
    B: HttpBody,
    B::Error: Into<BoxError>,
{
    while let Some(frame) = ready!(body.as_mut().poll_frame(cx)) {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                let message = error.into().to_string();
                return Poll::Ready(Err(answer::error(StatusCode::BAD_REQUEST, &message)));
            }
        };
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        if data.remaining() > MAX_BODY - read.len() {
            let message = format!("the body is larger than {MAX_BODY} bytes");
            return Poll::Ready(Err(answer::error(StatusCode::PAYLOAD_TOO_LARGE, &message)));
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            read.extend_from_slice(chunk);
            let length = chunk.len();
            data.advance(length);
        }
    }
    Poll::Ready(Ok(()))
}
