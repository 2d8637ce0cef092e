//! The response future.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Response, Version};
use http_body::Body as HttpBody;
use pin_project_lite::pin_project;
use tower::BoxError;

use super::body::Body;
use super::content::Content;
use super::limits::Clock;
use super::{classify, headers};
use crate::error::{Error, Kind};

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
            call: Option<Box<Call>>,
        },
        Refused { error: Option<Error> },
    }
}

/// What a call has from its beginning to the end of its body. Boxed: futures and bodies are moved often.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) clock: Clock,
    pub(super) upstream: Arc<str>,
    /// Only where the end of the connection is all that would tell the end of the body.
    pub(super) content: Option<Content>,
}

// === impl ResponseFuture ===

impl<F> ResponseFuture<F> {
    pub(super) fn new(inner: F, clock: Clock, upstream: Arc<str>) -> Self {
        let call = Box::new(Call {
            clock,
            upstream,
            content: None,
        });
        Self {
            state: State::Sent {
                inner,
                call: Some(call),
            },
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
            Poll::Pending => call.clock.poll_late(cx).map(|kind| Err(call.late(kind))),
            Poll::Ready(Err(error)) => {
                Poll::Ready(Err(classify::head(error.into(), &call.upstream)))
            }
            Poll::Ready(Ok(mut response)) => {
                let mut call = taken.take().expect("it was there a moment ago");
                call.content = Content::unframed(&response);
                // The version is this connection's alone: passed on, it would tell the caller's connection how to end.
                if *response.version_mut() < Version::HTTP_11 {
                    *response.version_mut() = Version::HTTP_11;
                }
                headers::drop_hop_by_hop(response.headers_mut());
                Poll::Ready(Ok(response.map(|body| Body::new(body, call))))
            }
        }
    }
}

// === impl Call ===

impl Call {
    /// The error that names the limit which was exceeded.
    pub(super) fn late(&self, kind: Kind) -> Error {
        Error::new(kind, self.upstream.clone()).with_limit(self.clock.limits().of(kind))
    }
}
