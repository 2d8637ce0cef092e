//! The response body.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use tower::BoxError;

use super::classify;
use super::content::Content;
use super::future::Call;
use super::incoming::Incoming;
use crate::error::{Error, Kind};

const UNFINISHED: &str = "the connection was closed, and the answer is not finished";

pin_project! {
    /// The body of an upstream's response, under its time limits.
    ///
    /// Frames are passed on as they come, trailers too. It ends cleanly only where the upstream's body does: one that is cut
    /// off is an [`Error`] of the kind [`Cut`](Kind::Cut), and so is one that ends with its connection and whose content is not
    /// whole. After an error the upstream is let go and the body is at its end.
    #[derive(Debug)]
    pub struct Body<B = Incoming> {
        #[pin]
        inner: Option<B>,
        call: Box<Call>,
    }
}

// === impl Body ===

impl<B> Body<B> {
    pub(super) fn new(inner: B, mut call: Box<Call>) -> Self {
        call.clock.head();
        Self {
            inner: Some(inner),
            call,
        }
    }
}

impl<B> HttpBody for Body<B>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let mut this = self.project();
        let Some(inner) = this.inner.as_mut().as_pin_mut() else {
            return Poll::Ready(None);
        };
        let call = &mut **this.call;
        let error = match inner.poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                if !call.clock.is_over() {
                    call.clock.frame();
                    if let Some(content) = &mut call.content
                        && let Some(bytes) = frame.data_ref()
                    {
                        content.read(bytes);
                    }
                    return Poll::Ready(Some(Ok(frame)));
                }
                call.late(Kind::TotalTimeout)
            }
            Poll::Ready(Some(Err(error))) => classify::body(error.into(), &call.upstream),
            Poll::Ready(None) => {
                let content = call.content.take();
                if content.is_none_or(Content::ends_whole) {
                    return Poll::Ready(None);
                }
                Error::new(Kind::Cut, call.upstream.clone()).with_source(UNFINISHED)
            }
            Poll::Pending => match call.clock.poll_late(cx) {
                Poll::Ready(kind) => call.late(kind),
                Poll::Pending => return Poll::Pending,
            },
        };
        // The upstream is let go now, not when the caller gets to dropping this.
        this.inner.set(None);
        call.content = None;
        Poll::Ready(Some(Err(error)))
    }

    fn is_end_stream(&self) -> bool {
        // Correctness: who believes this does not ask for the error that may be the end of an answer without framing.
        self.call.content.is_none() && self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}
