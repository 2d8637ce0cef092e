use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::headers;
use crate::weigh::Weigh;

/// A whole response, as it is stored. A clone shares the body.
#[derive(Clone, Debug)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

// What a header map allocates a header: a bucket (name, value, hash, links) and its places in the
// index, which is at most three quarters full and grows twofold.
const HEADER_OVERHEAD: usize = 128;

// === impl Answer ===

impl Answer {
    /// An answer. Of the headers, those that must never be replayed are dropped, and
    /// `Content-Length` is made to match the body.
    #[must_use]
    pub fn new(status: StatusCode, mut headers: HeaderMap, body: Bytes) -> Self {
        headers::strip(&mut headers);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
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
        let headers = self.headers.iter();
        let headers: usize = headers
            .map(|(name, value)| name.as_str().len() + value.len() + HEADER_OVERHEAD)
            .sum();
        size_of::<Self>() + headers + self.body.len()
    }
}
