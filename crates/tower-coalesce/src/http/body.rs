use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use tower::BoxError;

use super::pump::{Item, len};
use super::shared::FrameLog;
use crate::Lease;
use crate::error::Lagged;
use crate::sync::{Cursor, Read};

pin_project! {
    /// Response body of a service with [`SharedBody`](super::SharedBody): one caller's reader of a shared body, or the inner
    /// body itself where the call was not shared.
    ///
    /// Size hint, end of stream and trailers are those of the inner body. Dropping it is leaving the flight.
    pub struct Body<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProj]
    enum Kind<B> {
        Shared { reader: Reader },
        Direct { #[pin] inner: B },
    }
}

/// One reader of a frame log.
pub(super) struct Reader {
    // `None` once the body has ended for this reader, one way or another.
    open: Option<Open>,
    cursor: Cursor,
    expected: SizeHint,
    given: u64,
    lagged: Lagged,
}

struct Open {
    log: Arc<FrameLog>,
    lease: Lease,
}

// === impl Body ===

impl<B> Body<B> {
    pub(super) fn shared(reader: Reader) -> Self {
        Self {
            kind: Kind::Shared { reader },
        }
    }

    pub(super) fn direct(inner: B) -> Self {
        Self {
            kind: Kind::Direct { inner },
        }
    }
}

impl<B> http_body::Body for Body<B>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.project().kind.project() {
            KindProj::Shared { reader } => reader.poll_frame(cx),
            KindProj::Direct { inner } => inner
                .poll_frame(cx)
                .map(|frame| frame.map(|frame| frame.map_err(Into::into))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Shared { reader } => reader.cursor.is_done(),
            Kind::Direct { inner } => inner.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Shared { reader } => reader.size_hint(),
            Kind::Direct { inner } => inner.size_hint(),
        }
    }
}

impl<B> fmt::Debug for Body<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Shared { .. } => "Shared",
            Kind::Direct { .. } => "Direct",
        };
        f.debug_struct("Body")
            .field("kind", &kind)
            .finish_non_exhaustive()
    }
}

// === impl Reader ===

impl Reader {
    pub(super) fn new(
        log: Arc<FrameLog>,
        cursor: Cursor,
        expected: SizeHint,
        lagged: Lagged,
        lease: Lease,
    ) -> Self {
        Self {
            open: Some(Open { log, lease }),
            cursor,
            expected,
            given: 0,
            lagged,
        }
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(Open { log, lease }) = &self.open else {
            return Poll::Ready(None);
        };
        let last = match ready!(log.poll_next(&mut self.cursor, cx.waker())) {
            Read::Item(item) => {
                if let Item::Data(data) = &item {
                    self.given = self.given.saturating_add(len(data));
                }
                return Poll::Ready(Some(Ok(item.into())));
            }
            Read::End(Ok(())) => None,
            Read::End(Err(error)) => Some(Err(error.into_error())),
            Read::Lagged => {
                lease.count_lagged();
                Some(Err(self.lagged.into()))
            }
        };
        self.close();
        Poll::Ready(last)
    }

    fn size_hint(&self) -> SizeHint {
        if self.cursor.is_done() {
            return SizeHint::with_exact(0);
        }
        let mut hint = SizeHint::new();
        // The upper bound first: the lower one must never be above it.
        if let Some(upper) = self.expected.upper() {
            hint.set_upper(upper.saturating_sub(self.given));
        }
        hint.set_lower(self.expected.lower().saturating_sub(self.given));
        hint
    }

    /// Leaves the log, then the flight.
    fn close(&mut self) {
        if let Some(Open { log, lease }) = self.open.take() {
            log.close(&self.cursor);
            drop(lease);
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.close();
    }
}
