use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::kept::{Kind, KindProj};

pin_project! {
    /// The body of a response of a [`Finish`].
    pub struct FinishBody<B> {
        #[pin]
        kind: Kind<B>,
    }
}

// === impl FinishBody ===

impl<B> FinishBody<B> {
    pub(super) const fn new(kind: Kind<B>) -> Self {
        Self { kind }
    }
}

impl<B> Body for FinishBody<B>
where
    B: Body,
{
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        match self.project().kind.project() {
            KindProj::Plain { inner } => inner.poll_frame(cx),
            KindProj::Kept { inner: kept } => {
                let Some(body) = &mut kept.inner else {
                    return Poll::Ready(None);
                };
                let frame = ready!(body.as_mut().poll_frame(cx));
                if !matches!(frame, Some(Ok(_))) || body.is_end_stream() {
                    kept.inner = None;
                }
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Plain { inner } => inner.is_end_stream(),
            Kind::Kept { inner } => inner.inner.as_ref().is_none_or(|body| body.is_end_stream()),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Plain { inner } => inner.size_hint(),
            Kind::Kept { inner } => inner
                .inner
                .as_ref()
                .map_or_else(|| SizeHint::with_exact(0), |body| body.size_hint()),
        }
    }
}

impl<B> fmt::Debug for FinishBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinishBody").finish_non_exhaustive()
    }
}
