use std::io::Write as _;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::headers;

/// An answer in the making: the headers that may be replayed, and the bytes of the body.
///
/// Everything is copied, end to end, into one buffer. The values of a response are slices of whatever
/// they were read into, most of the time a buffer many times as large, which would live as long as
/// the entry: so what is counted is what is held.
#[derive(Debug)]
pub(super) struct Draft {
    lines: Vec<Line>,
    buffer: Vec<u8>,
    /// Where the body begins.
    body: usize,
}

#[derive(Debug)]
struct Line {
    name: HeaderName,
    /// Where the value ends. It begins where the one before ends.
    end: usize,
    sensitive: bool,
}

// === impl Draft ===

impl Draft {
    /// The headers, with room for a body of `expected` bytes.
    pub(super) fn new(headers: &HeaderMap, expected: usize) -> Self {
        let kept = || headers::replayed(headers);
        let (count, length) = kept().fold((0, 0), |(count, length), (_, value)| {
            (count + 1, length + value.len())
        });
        let mut draft = Self {
            lines: Vec::with_capacity(count),
            buffer: Vec::with_capacity(length + expected + digits(expected)),
            body: length,
        };
        for (name, value) in kept() {
            draft.buffer.extend_from_slice(value.as_bytes());
            draft.lines.push(Line {
                name: name.clone(),
                end: draft.buffer.len(),
                sensitive: value.is_sensitive(),
            });
        }
        draft
    }

    /// Makes room for exactly so many more bytes of the body.
    pub(super) fn reserve(&mut self, bytes: usize) {
        let length = self.buffer.len() - self.body + bytes;
        self.buffer.reserve_exact(bytes + digits(length));
    }

    /// Adds to the body.
    pub(super) fn push(&mut self, data: &[u8]) {
        self.buffer.extend_from_slice(data);
    }

    /// The headers, with the length of the body among them, and the body.
    pub(super) fn finish(mut self) -> (HeaderMap, Bytes) {
        let end = self.buffer.len();
        let length = end.saturating_sub(self.body);
        // Correctness: writing into a vector does not fail.
        let _ = write!(self.buffer, "{length}");
        let buffer = Bytes::from(self.buffer);
        // More than a map can hold have not come out of one.
        let mut map = HeaderMap::try_with_capacity(self.lines.len() + 1).unwrap_or_default();
        let mut start = 0;
        for line in self.lines {
            // A slice of what was a value is one.
            if let Ok(mut value) = HeaderValue::from_maybe_shared(buffer.slice(start..line.end)) {
                value.set_sensitive(line.sensitive);
                let _ = map.try_append(line.name, value);
            }
            start = line.end;
        }
        if let Ok(length) = HeaderValue::from_maybe_shared(buffer.slice(end..)) {
            let _ = map.try_append(CONTENT_LENGTH, length);
        }
        (map, buffer.slice(self.body..end))
    }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_of_an_answer_and_its_body_are_one_buffer() {
        let mut headers = HeaderMap::new();
        headers.append("content-type", HeaderValue::from_static("text/plain"));
        headers.append("x-tag", HeaderValue::from_static("one"));
        headers.append("x-tag", HeaderValue::from_static(""));
        headers.append("content-length", HeaderValue::from_static("7"));
        let mut secret = HeaderValue::from_static("secret");
        secret.set_sensitive(true);
        headers.append("x-secret", secret);
        for body in ["", "hello, all"] {
            for expected in [0, body.len()] {
                let mut draft = Draft::new(&headers, expected);
                draft.reserve(body.len() - expected);
                let room = draft.buffer.capacity();
                draft.push(body.as_bytes());
                let (map, told) = draft.finish();
                assert_eq!(told, body);
                assert_eq!(map["content-type"], "text/plain");
                assert_eq!(map["content-length"], body.len().to_string());
                assert_eq!(map.get_all("x-tag").iter().collect::<Vec<_>>(), ["one", ""]);
                assert!(map["x-secret"].is_sensitive() && !map["x-tag"].is_sensitive());
                assert_eq!(map.len(), 5);
                let values: usize = map.values().map(HeaderValue::len).sum();
                assert_eq!(room, values + body.len());
            }
        }
    }
}
