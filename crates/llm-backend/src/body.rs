//! Request bodies: whole and replayable, or passed through as they arrive.
//!
//! A [`full`](RequestBody::full) body is one [`Bytes`]: cloning it copies nothing, its length is known, and it can be sent
//! again after a stale pooled connection. A [`streaming`](RequestBody::streaming) body is sent once, frame by frame, and is
//! never buffered.
//!
//! ```
//! use bytes::Bytes;
//! use http_body::Body;
//! use llm_backend::RequestBody;
//!
//! let body = RequestBody::full(Bytes::from_static(b"{\"model\":\"m\"}"));
//! assert_eq!(body.size_hint().exact(), Some(13));
//! assert!(body.try_clone().is_some());
//! ```
//!
//! ```
//! use bytes::Bytes;
//! use http_body_util::{Full, BodyExt};
//! use llm_backend::RequestBody;
//!
//! let upload = Full::new(Bytes::from_static(b"audio")).map_frame(|frame| frame);
//! let body = RequestBody::streaming(upload);
//! assert!(body.try_clone().is_none(), "a stream is sent once");
//! ```

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use tower::BoxError;

/// A request body: [`full`](Self::full) or [`streaming`](Self::streaming).
///
/// See the [module docs](self).
pub struct RequestBody {
    kind: Kind,
}

enum Kind {
    /// Not yet sent, or `None` when it was empty or has been sent.
    Full(Option<Bytes>),
    Streaming(UnsyncBoxBody<Bytes, BoxError>),
}

// === impl RequestBody ===

impl RequestBody {
    /// A body that is wholly in memory: its length is known and it can be replayed.
    #[must_use]
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self {
            kind: Kind::Full((!bytes.is_empty()).then_some(bytes)),
        }
    }

    /// No body.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            kind: Kind::Full(None),
        }
    }

    /// A body that is passed through as it arrives. It is boxed once, and can be sent once.
    #[must_use]
    pub fn streaming<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self {
            kind: Kind::Streaming(body.map_err(Into::into).boxed_unsync()),
        }
    }

    /// The same body again, if it is full. Nothing is copied.
    #[must_use]
    pub fn try_clone(&self) -> Option<Self> {
        match &self.kind {
            Kind::Full(bytes) => Some(Self {
                kind: Kind::Full(bytes.clone()),
            }),
            Kind::Streaming(_) => None,
        }
    }

    /// The bytes of a full body; none are left once it has been sent. A clone of them copies nothing.
    #[must_use]
    pub fn bytes(&self) -> Option<&Bytes> {
        static NONE: Bytes = Bytes::new();
        match &self.kind {
            Kind::Full(bytes) => Some(bytes.as_ref().unwrap_or(&NONE)),
            Kind::Streaming(_) => None,
        }
    }

    /// The bytes of a full body that has not been sent.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        self.bytes().map(|bytes| &**bytes)
    }
}

impl Default for RequestBody {
    fn default() -> Self {
        Self::empty()
    }
}

impl From<Bytes> for RequestBody {
    fn from(bytes: Bytes) -> Self {
        Self::full(bytes)
    }
}

impl From<Vec<u8>> for RequestBody {
    fn from(bytes: Vec<u8>) -> Self {
        Self::full(bytes)
    }
}

impl From<String> for RequestBody {
    fn from(text: String) -> Self {
        Self::full(text)
    }
}

impl From<&'static str> for RequestBody {
    fn from(text: &'static str) -> Self {
        Self::full(text)
    }
}

/// Shows the size, never the content.
impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match &self.kind {
            Kind::Full(_) => "full",
            Kind::Streaming(_) => "streaming",
        };
        let size = self.size_hint().exact();
        f.debug_struct("RequestBody")
            .field("form", &form)
            .field("size", &size)
            .finish()
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.kind {
            Kind::Full(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Streaming(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Full(bytes) => bytes.is_none(),
            Kind::Streaming(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Kind::Streaming(body) => body.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::header::{ETAG, HeaderMap, HeaderValue};
    use http_body_util::Full;

    use super::*;

    #[tokio::test]
    async fn a_full_body_can_be_sent_again() {
        let body = RequestBody::from("hello");
        let again = body.try_clone().unwrap();
        assert_eq!(body.collect().await.unwrap().to_bytes(), "hello");
        assert_eq!(again.as_bytes(), Some(&b"hello"[..]));
        assert_eq!(again.collect().await.unwrap().to_bytes(), "hello");
    }

    #[tokio::test]
    async fn the_bytes_of_a_full_body_are_shared_and_gone_once_sent() {
        let sent = Bytes::from(vec![b'a'; 3]);
        let mut body = RequestBody::full(sent.clone());
        assert_eq!(
            body.bytes().map(|bytes| bytes.as_ptr()),
            Some(sent.as_ptr())
        );
        body.frame().await.unwrap().unwrap();
        assert!(body.bytes().unwrap().is_empty());
        assert!(RequestBody::empty().bytes().unwrap().is_empty());
    }

    #[test]
    fn an_empty_body_is_at_its_end() {
        assert!(RequestBody::full(Bytes::new()).is_end_stream());
        assert_eq!(RequestBody::empty().size_hint().exact(), Some(0));
    }

    #[tokio::test]
    async fn a_streaming_body_keeps_its_trailers() {
        let trailers = HeaderMap::from_iter([(ETAG, HeaderValue::from_static("x"))]);
        let inner = Full::new(Bytes::from_static(b"a"))
            .with_trailers(std::future::ready(Some(Ok(trailers))));
        let body = RequestBody::streaming(inner);
        assert!(body.bytes().is_none() && body.as_bytes().is_none());
        let collected = body.collect().await.unwrap();
        assert_eq!(collected.trailers().unwrap()[ETAG], "x");
        assert_eq!(collected.to_bytes(), "a");
    }

    #[test]
    fn debug_never_shows_the_content() {
        assert!(!format!("{:?}", RequestBody::from("secret")).contains("secret"));
    }
}
