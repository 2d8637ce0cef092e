//! The response future.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Response;
use http_body::Body as HttpBody;
use pin_project_lite::pin_project;
use tower::BoxError;

use super::body::{Body, late};
use super::content::Content;
use super::limits::Clock;
use super::{classify, headers};
use crate::error::Error;

pin_project! {
    /// The response to come, under its time limits.
    ///
    /// Dropping it drops the client's own future, which closes the connection.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = StateProj]
    enum State<F> {
        Sent {
            #[pin]
            inner: F,
            // Taken by the body.
            call: Option<Call>,
        },
        Refused { error: Option<Error> },
    }
}

#[derive(Debug)]
struct Call {
    clock: Clock,
    upstream: Arc<str>,
}

// === impl ResponseFuture ===

impl<F> ResponseFuture<F> {
    pub(super) fn new(inner: F, clock: Clock, upstream: Arc<str>) -> Self {
        let call = Some(Call { clock, upstream });
        Self {
            state: State::Sent { inner, call },
        }
    }

    /// A request that was not sent.
    pub(super) fn refused(error: Error) -> Self {
        let error = Some(error);
        Self {
            state: State::Refused { error },
        }
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: HttpBody,
    E: Into<BoxError>,
{
    type Output = Result<Response<Body<B>>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        const DONE: &str = "a future is not polled after it is done";
        let (inner, taken) = match self.project().state.project() {
            StateProj::Sent { inner, call } => (inner, call),
            StateProj::Refused { error } => return Poll::Ready(Err(error.take().expect(DONE))),
        };
        let polled = inner.poll(cx);
        let call = taken.as_mut().expect(DONE);
        match polled {
            Poll::Pending => call.clock.poll_late(cx).map(|kind| {
                let Call { clock, upstream } = call;
                Err(late(kind, clock, upstream))
            }),
            Poll::Ready(Err(error)) => {
                Poll::Ready(Err(classify::head(error.into(), &call.upstream)))
            }
            Poll::Ready(Ok(response)) => {
                let call = taken.take().expect("it was there a moment ago");
                let (mut parts, body) = response.into_parts();
                let content = Content::unframed(&parts, &body);
                headers::drop_hop_by_hop(&mut parts.headers);
                let body = Body::new(body, call.clock, call.upstream, content);
                Poll::Ready(Ok(Response::from_parts(parts, body)))
            }
        }
    }
}
