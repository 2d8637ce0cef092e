use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode};

use super::draft::Draft;
use crate::weigh::Weigh;

/// A whole response, as it is stored. A clone shares the bytes.
#[derive(Clone, Debug)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

// What a header map allocates a place for a header: a bucket (name, value, hash, links) and its
// places in the index, which is at most three quarters full.
const PLACE: usize = 128;
// What the buffer of the bytes takes beside them: its counts, and two allocations.
const BUFFER: usize = 64;

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
        let (headers, body) = draft.finish();
        Self {
            status,
            headers,
            body,
        }
    }

    /// The status.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers that are replayed.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The value of one header, where it is text.
    #[must_use]
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// Status, headers and body.
    #[must_use]
    pub fn into_parts(self) -> (StatusCode, HeaderMap, Bytes) {
        (self.status, self.headers, self.body)
    }
}

impl Weigh for Answer {
    fn weigh(&self) -> usize {
        // The second value of a name stands in a list that grows twofold.
        let more = self.headers.len() - self.headers.keys_len();
        let places = (self.headers.capacity() + 2 * more) * PLACE;
        let headers = self.headers.iter();
        let headers: usize = headers
            .map(|(name, value)| name.as_str().len() + value.len())
            .sum();
        size_of::<Self>() + places + headers + self.body.len() + BUFFER
    }
}
