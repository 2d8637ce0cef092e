use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;
use pin_project_lite::pin_project;
use tower::BoxError;

use super::shared::FrameLog;
use crate::FlightError;
use crate::sync::Batch;

/// What a frame costs beside its bytes, in the bytes that caps and windows count: its place in the log and its allocation.
const OVERHEAD: u64 = 128;
/// Up to this size a frame is copied: it is mostly a slice of a read buffer many times as large, which would be held as long as
/// the frame is. So what is counted is what is held.
const COPIED: usize = 4 * 1024;
/// Frames that a body that is always ready may give before other tasks get a turn.
const TURN: usize = 64;

pin_project! {
    /// Reads a body into a log, for [`SharedBody`](super::SharedBody).
    pub struct Pump<B> {
        #[pin]
        body: Option<B>,
        log: Arc<FrameLog>,
        batch: Batch,
        // Bytes that are still to come, where the body knew.
        left: Option<u64>,
        // The log had no room when last looked at.
        full: bool,
        // Not polled yet: a body that is empty says so, and need not be polled at all.
        fresh: bool,
    }
}

/// A frame that many can have: cheap to clone.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Data(Bytes),
    Trailers(Arc<HeaderMap>),
}

// === impl Pump ===

impl<B> Pump<B> {
    pub(super) fn new(body: B, exact: Option<u64>, log: Arc<FrameLog>) -> Self {
        if exact == Some(0) {
            log.complete();
        }
        Self {
            body: Some(body),
            log,
            batch: Batch::default(),
            left: exact,
            full: false,
            fresh: true,
        }
    }
}

impl<B> Future for Pump<B>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        // A frame that may be the last: all the promised bytes are there, or trailers are. The end is then mostly there too, and is to
        // be published with it, so one more look is worth it; it is not held back beyond that.
        let mut last: Option<Item> = None;
        for _ in 0..TURN {
            if last.is_none() && *this.full {
                if !this.log.has_room(cx.waker()) {
                    return Poll::Pending;
                }
                *this.full = false;
            }
            let Some(mut body) = this.body.as_mut().as_pin_mut() else {
                return Poll::Ready(());
            };
            // The end-of-stream hint counts at the start and right after a frame, as it does for hyper. A body whose end comes
            // later is asked for it, so that a recorder below sees it.
            let hinted = std::mem::take(this.fresh) || last.is_some();
            let frame = if hinted && body.is_end_stream() {
                Poll::Ready(None)
            } else {
                body.as_mut().poll_frame(cx)
            };
            let item = match frame {
                Poll::Ready(Some(Ok(frame))) => Some(Item::from(frame)),
                Poll::Ready(Some(Err(error))) => {
                    // What came before the error is not the end.
                    if let Some(last) = last {
                        let weight = last.weight();
                        this.log.append(last, weight, this.batch);
                    }
                    this.log.hold(None, Err(FlightError::new(error)));
                    this.body.set(None);
                    return Poll::Ready(());
                }
                // Correctness: the body is dropped here, and with it its permits; what it gave last becomes visible when the
                // flight's key is free. A body below that records has done so before it said it was at its end.
                Poll::Ready(None) => {
                    this.log.hold(last.map(Item::weighed), Ok(()));
                    this.body.set(None);
                    return Poll::Ready(());
                }
                Poll::Pending => None,
            };
            if let Some(last) = last.take() {
                let weight = last.weight();
                *this.full = !this.log.append(last, weight, this.batch);
            }
            let Some(item) = item else {
                return Poll::Pending;
            };
            if let (Some(left), Item::Data(data)) = (&mut *this.left, &item) {
                *left = left.saturating_sub(len(data));
                if *left == 0 {
                    this.log.complete();
                }
            }
            if item.is_trailers() || *this.left == Some(0) || body.is_end_stream() {
                last = Some(item);
            } else {
                let weight = item.weight();
                *this.full = !this.log.append(item, weight, this.batch);
            }
        }
        if let Some(last) = last {
            let weight = last.weight();
            *this.full = !this.log.append(last, weight, this.batch);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<B> fmt::Debug for Pump<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pump").finish_non_exhaustive()
    }
}

// === impl Item ===

impl Item {
    /// What it counts against caps and windows, in bytes.
    fn weight(&self) -> u64 {
        let bytes = match self {
            Self::Data(data) => len(data),
            Self::Trailers(trailers) => trailers
                .iter()
                .map(|(name, value)| len(name.as_str().as_bytes()) + len(value.as_bytes()))
                .fold(0, u64::saturating_add),
        };
        bytes.saturating_add(OVERHEAD)
    }

    fn weighed(self) -> (Self, u64) {
        let weight = self.weight();
        (self, weight)
    }

    fn is_trailers(&self) -> bool {
        matches!(self, Self::Trailers(_))
    }
}

impl From<Frame<Bytes>> for Item {
    fn from(frame: Frame<Bytes>) -> Self {
        match frame.into_data() {
            Ok(data) if data.len() <= COPIED => Self::Data(Bytes::copy_from_slice(&data)),
            Ok(data) => Self::Data(data),
            Err(frame) => match frame.into_trailers() {
                Ok(trailers) => Self::Trailers(Arc::new(trailers)),
                // There is no third kind today.
                Err(_) => Self::Data(Bytes::new()),
            },
        }
    }
}

impl From<Item> for Frame<Bytes> {
    fn from(item: Item) -> Self {
        match item {
            Item::Data(data) => Self::data(data),
            Item::Trailers(trailers) => Self::trailers(Arc::unwrap_or_clone(trailers)),
        }
    }
}

pub(super) fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
