use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::draft::{Draft, Written};
use crate::weigh::Weigh;

/// A whole response, as it is stored. A clone shares all of it.
#[derive(Clone, Debug)]
pub struct Answer {
    status: StatusCode,
    written: Written,
}

// What the buffer takes beside its bytes: counts, and the allocation.
const BUFFER: usize = 48;

// === impl Answer ===

impl Answer {
    /// An answer. Of the headers, those that must never be replayed are dropped, and
    /// `Content-Length` is made to match the body.
    ///
    /// The values and the body are copied into a buffer of the answer's own, so that it keeps no
    /// larger one alive.
    #[must_use]
    pub fn new(status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        let mut draft = Draft::new(&headers, body.len());
        draft.push(&body);
        Self::from_draft(status, draft)
    }

    pub(super) fn from_draft(status: StatusCode, draft: Draft) -> Self {
        Self {
            status,
            written: draft.finish(),
        }
    }

    /// The status.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers that are replayed. They are put together anew: to look at one, [`get`](Self::get) it.
    #[must_use]
    pub fn headers(&self) -> HeaderMap {
        self.written.headers(0)
    }

    /// The first value of one header.
    #[must_use]
    pub fn get(&self, name: &HeaderName) -> Option<HeaderValue> {
        self.written.get(name)
    }

    /// The body.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        self.written.body()
    }

    /// Status, headers and body.
    #[must_use]
    pub fn into_parts(self) -> (StatusCode, HeaderMap, Bytes) {
        (self.status, self.headers(), self.body().clone())
    }

    /// The headers, with room for those that a replay adds.
    pub(super) fn headers_to_replay(&self) -> HeaderMap {
        self.written.headers(2)
    }
}

impl Weigh for Answer {
    fn weigh(&self) -> usize {
        size_of::<Self>() + self.written.weigh() + BUFFER
    }
}
