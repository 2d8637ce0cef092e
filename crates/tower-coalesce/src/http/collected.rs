use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tower::BoxError;

/// A whole body in memory: cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    data: Bytes,
    trailers: Option<HeaderMap>,
}

pin_project! {
    /// A request body that was collected, or one that streams through, which
    /// [`CollectLayer::only_if`](super::CollectLayer::only_if) left alone.
    pub struct MaybeCollected<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProj]
    enum Kind<B> {
        Collected { body: Collected },
        Streaming { #[pin] body: B },
    }
}

// === impl Collected ===

impl Collected {
    pub(super) const fn new(data: Bytes, trailers: Option<HeaderMap>) -> Self {
        Self { data, trailers }
    }

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

// === impl MaybeCollected ===

impl<B> MaybeCollected<B> {
    /// A body that streams through.
    pub const fn streaming(body: B) -> Self {
        Self {
            kind: Kind::Streaming { body },
        }
    }

    /// The whole body, if it was collected.
    #[must_use]
    pub const fn collected(&self) -> Option<&Collected> {
        match &self.kind {
            Kind::Collected { body } => Some(body),
            Kind::Streaming { .. } => None,
        }
    }
}

impl<B> From<Collected> for MaybeCollected<B> {
    fn from(body: Collected) -> Self {
        Self {
            kind: Kind::Collected { body },
        }
    }
}

impl<B> Body for MaybeCollected<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.project().kind.project() {
            KindProj::Collected { body } => Pin::new(body).poll_frame(cx).map_err(Into::into),
            KindProj::Streaming { body } => body.poll_frame(cx).map_err(Into::into),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Collected { body } => body.is_end_stream(),
            Kind::Streaming { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Collected { body } => body.size_hint(),
            Kind::Streaming { body } => body.size_hint(),
        }
    }
}

impl<B> fmt::Debug for MaybeCollected<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Collected { body } => f.debug_tuple("Collected").field(body).finish(),
            Kind::Streaming { .. } => f.write_str("Streaming"),
        }
    }
}
