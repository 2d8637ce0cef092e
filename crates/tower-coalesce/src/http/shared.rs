use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::response::Parts;
use http_body::SizeHint;
use tower::BoxError;

use super::body::{Body, Reader};
use super::pump::{Item, Pump};
use crate::error::Lagged;
use crate::share::Rest;
use crate::sync::{Log, Mutex};
use crate::{FlightError, Lease, OnAbandon, Role, Share};

pub(super) type FrameLog = Log<Item, FlightError>;

const CAP: u64 = 4 * 1024 * 1024;
const WINDOW: u64 = 64 * 1024;
const DRAIN: Duration = Duration::from_secs(1);
/// The last frames are held even when all have read them, for [`SharedBody::complete_when`]: at least this many bytes of
/// them, or four.
const KEEP: u64 = 256;
const TAIL_FRAMES: usize = 8;

/// Every caller reads the same body, from its start, at its own pace.
///
/// The frames are kept in a log of which each reader has a cursor; handing one out costs a short lock and a reference count.
/// Trailers and errors reach everybody. The [`Role`] is in the extensions of every response.
///
/// * The body is read no further than the **fastest** reader plus the [`window`](SharedBody::window): if all are slow, the
///   upstream is held back.
/// * A slow reader stalls nobody: when it falls a whole [`cap`](SharedBody::cap) behind the fastest, its body fails with
///   [`Lagged`].
/// * Past the cap the flight can no longer be joined, and what all its readers have read is dropped. Whoever comes then starts a
///   new call, which takes the key over.
/// * When the last reader leaves a body that is complete but for its end (see [`complete_when`](SharedBody::complete_when)),
///   it is drained for at most 1 second, so that recorders below see the end.
///
/// Memory of a flight: at most cap plus window plus one frame, where each frame counts 128 bytes beside its own: its place in the
/// log and its allocation.
#[derive(Clone, Copy, Debug)]
pub struct SharedBody {
    cap: u64,
    window: u64,
    complete: Option<fn(&[u8]) -> bool>,
}

/// What the callers of one flight share: the head of the response and the log of its frames.
#[derive(Debug)]
pub struct Broadcast {
    /// Gone once the last caller has taken it.
    head: Mutex<Option<Arc<Parts>>>,
    log: Arc<FrameLog>,
    expected: SizeHint,
}

// === impl SharedBody ===

impl SharedBody {
    /// A cap of 4 MiB and a window of 64 KiB.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            cap: CAP,
            window: WINDOW,
            complete: None,
        }
    }

    /// How many bytes of a body are kept for who joins late, and how far one reader may fall behind another.
    #[must_use]
    pub const fn cap(mut self, bytes: u64) -> Self {
        self.cap = bytes;
        self
    }

    /// How many bytes the body is read ahead of its fastest reader.
    #[must_use]
    pub const fn window(mut self, bytes: u64) -> Self {
        self.window = bytes;
        self
    }

    /// Tells from the last bytes of a stream whether its content is complete though its end has not come yet.
    ///
    /// Many clients close a stream when they have read its last event. The function gets the last 8 frames, or fewer past the cap, and
    /// decides whether to wait for the end (at most 1 second) when the last reader leaves. Without it, only a body of
    /// known length can be complete before its end.
    #[must_use]
    pub const fn complete_when(mut self, complete: fn(&[u8]) -> bool) -> Self {
        self.complete = Some(complete);
        self
    }
}

impl Default for SharedBody {
    fn default() -> Self {
        Self::new()
    }
}

impl<B> Share<http::Response<B>> for SharedBody
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Shared = Broadcast;
    type Drive = Pump<B>;
    type Response = http::Response<Body<B>>;

    fn share(&self, response: http::Response<B>) -> (Broadcast, Pump<B>) {
        let (parts, body) = response.into_parts();
        let log = Arc::new(Log::new(self.cap, self.window, KEEP));
        let expected = body.size_hint();
        let pump = Pump::new(body, expected.exact(), Arc::clone(&log));
        (
            Broadcast {
                head: Mutex::new(Some(Arc::new(parts))),
                log,
                expected,
            },
            pump,
        )
    }

    fn open(&self, shared: &Broadcast, lease: Lease, role: Role) -> Result<Self::Response, Lease> {
        let Broadcast {
            head,
            log,
            expected,
        } = shared;
        // Most flights have one caller and are over by now. It need not leave a copy behind.
        let head = match lease.is_last() {
            true => head.lock().take(),
            false => head.lock().clone(),
        };
        let Some(head) = head else {
            return Err(lease);
        };
        let Some(cursor) = log.open(role == Role::Leader) else {
            return Err(lease);
        };
        let reader = Reader::new(
            Arc::clone(log),
            cursor,
            *expected,
            Lagged::new(self.cap),
            lease,
        );
        let mut parts = Arc::unwrap_or_clone(head);
        parts.extensions.insert(role);
        Ok(http::Response::from_parts(parts, Body::shared(reader)))
    }

    fn pass(&self, mut response: http::Response<B>) -> Self::Response {
        response.extensions_mut().insert(Role::Bypass);
        response.map(Body::direct)
    }

    fn landed(&self, shared: &Broadcast, end: Result<(), FlightError>) {
        shared.log.finish(end.err());
    }

    fn deserted(&self, shared: &Broadcast, then: OnAbandon) -> Rest {
        match then {
            OnAbandon::Finish => shared.log.lift(),
            OnAbandon::Cancel if self.is_complete(shared) => {
                shared.log.lift();
                return Rest::Drain(DRAIN);
            }
            OnAbandon::Cancel => {}
        }
        Rest::Stop
    }
}

impl SharedBody {
    fn is_complete(&self, shared: &Broadcast) -> bool {
        if shared.log.is_complete() {
            return true;
        }
        let Some(complete) = self.complete else {
            return false;
        };
        let mut tail = Vec::new();
        for item in shared.log.tail(TAIL_FRAMES) {
            if let Item::Data(data) = item {
                tail.extend_from_slice(&data);
            }
        }
        complete(&tail)
    }
}
