use std::io::Write as _;
use std::sync::Arc;

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

/// The headers of an answer and its body, in one buffer. A clone counts two references.
#[derive(Clone, Debug)]
pub(super) struct Written {
    lines: Arc<[Line]>,
    buffer: Bytes,
    body: Bytes,
}

#[derive(Clone, Debug)]
struct Line {
    name: HeaderName,
    /// Where the value ends. It begins where the one before ends.
    end: usize,
    sensitive: bool,
}

// What a name that is not one of the well-known ones takes beside its letters: counts, and two
// allocations.
const NAME: usize = 64;

// === impl Draft ===

impl Draft {
    /// The headers, with room for a body of `expected` bytes.
    pub(super) fn new(headers: &HeaderMap, expected: usize) -> Self {
        let kept: Vec<_> = headers::replayed(headers).collect();
        let length = kept.iter().map(|(_, value)| value.len()).sum();
        let mut draft = Self {
            lines: Vec::with_capacity(kept.len()),
            buffer: Vec::with_capacity(length + expected + digits(expected)),
            body: length,
        };
        for (name, value) in kept {
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
    pub(super) fn finish(mut self) -> Written {
        let end = self.buffer.len();
        let length = end.saturating_sub(self.body);
        // Correctness: writing into a vector does not fail.
        let _ = write!(self.buffer, "{length}");
        let buffer = Bytes::from(self.buffer);
        Written {
            body: buffer.slice(self.body..end),
            lines: self.lines.into(),
            buffer,
        }
    }
}

// === impl Written ===

impl Written {
    pub(super) const fn body(&self) -> &Bytes {
        &self.body
    }

    /// The first value of a header.
    pub(super) fn get(&self, name: &HeaderName) -> Option<HeaderValue> {
        let mut lines = self.lines();
        lines.find_map(|(other, value)| (other == name).then_some(value))
    }

    /// All headers, with room for so many more.
    pub(super) fn headers(&self, more: usize) -> HeaderMap {
        // More than a map can hold have not come out of one.
        let mut map = HeaderMap::try_with_capacity(self.lines.len() + 1 + more).unwrap_or_default();
        for (name, value) in self.lines() {
            let _ = map.try_append(name.clone(), value);
        }
        map
    }

    /// What is held.
    pub(super) fn weigh(&self) -> usize {
        let lines = self.lines.iter();
        let lines: usize = lines
            .map(|line| size_of::<Line>() + line.name.as_str().len() + NAME)
            .sum();
        lines + self.buffer.len()
    }

    fn lines(&self) -> impl Iterator<Item = (&HeaderName, HeaderValue)> {
        let mut start = 0;
        let lines = self.lines.iter().filter_map(move |line| {
            let from = std::mem::replace(&mut start, line.end);
            // A slice of what was a value is one.
            let mut value =
                HeaderValue::from_maybe_shared(self.buffer.slice(from..line.end)).ok()?;
            value.set_sensitive(line.sensitive);
            Some((&line.name, value))
        });
        lines.chain(self.length())
    }

    /// It stands behind the body.
    fn length(&self) -> Option<(&HeaderName, HeaderValue)> {
        let start = self.lines.last().map_or(0, |line| line.end) + self.body.len();
        let length = HeaderValue::from_maybe_shared(self.buffer.slice(start..)).ok()?;
        Some((&CONTENT_LENGTH, length))
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
                let written = draft.finish();
                let map = written.headers(0);
                assert_eq!(written.body(), body);
                assert_eq!(
                    written.get(&CONTENT_LENGTH),
                    Some(map["content-length"].clone())
                );
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
