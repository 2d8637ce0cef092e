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
    buffer: Vec<u8>,
    /// Where the body begins.
    body: usize,
}

/// The headers of an answer, its body and the length of that, in one buffer. A clone counts two
/// references.
///
/// A header is a line, `name:value` and a line feed; where the value is sensitive, a space stands
/// before the name. No name has a colon or a space, and no value a line feed.
#[derive(Clone, Debug)]
pub(super) struct Written {
    buffer: Bytes,
    body: Bytes,
    /// Where the length of the body begins, behind it.
    length: usize,
}

const SENSITIVE: u8 = b' ';

// The headers of most answers, so that the map of most need not grow.
const HEADERS: usize = 6;

// === impl Draft ===

impl Draft {
    /// The headers, with room for a body of `expected` bytes.
    pub(super) fn new(headers: &HeaderMap, expected: usize) -> Self {
        let kept: Vec<_> = headers::replayed(headers).collect();
        let lines: usize = kept.iter().map(|(name, value)| line(name, value)).sum();
        let mut buffer = Vec::with_capacity(lines + expected + digits(expected));
        for (name, value) in kept {
            if value.is_sensitive() {
                buffer.push(SENSITIVE);
            }
            buffer.extend_from_slice(name.as_str().as_bytes());
            buffer.push(b':');
            buffer.extend_from_slice(value.as_bytes());
            buffer.push(b'\n');
        }
        Self {
            body: buffer.len(),
            buffer,
        }
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
            length: end,
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
        let mut headers = self.iter();
        headers.find_map(|(other, value)| (other == *name).then_some(value))
    }

    /// All headers, with room for so many more.
    pub(super) fn headers(&self, more: usize) -> HeaderMap {
        let mut map = HeaderMap::with_capacity(HEADERS + more);
        for (name, value) in self.iter() {
            // More than a map can hold have not come out of one.
            let _ = map.try_append(name, value);
        }
        map
    }

    /// What is held.
    pub(super) const fn weigh(&self) -> usize {
        self.buffer.len()
    }

    fn iter(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let end = self.length - self.body.len();
        let mut next = 0;
        let lines = std::iter::from_fn(move || {
            let rest = self.buffer.get(next..end)?;
            let colon = next + rest.iter().position(|byte| *byte == b':')?;
            let feed = next + rest.iter().position(|byte| *byte == b'\n')?;
            let from = std::mem::replace(&mut next, feed + 1);
            let sensitive = self.buffer.get(from) == Some(&SENSITIVE);
            let name = self.buffer.get(from + usize::from(sensitive)..colon)?;
            let name = HeaderName::from_bytes(name).ok()?;
            // A slice of what was a value is one.
            let mut value =
                HeaderValue::from_maybe_shared(self.buffer.slice(colon + 1..feed)).ok()?;
            value.set_sensitive(sensitive);
            Some((name, value))
        });
        lines.chain(self.content_length())
    }

    fn content_length(&self) -> Option<(HeaderName, HeaderValue)> {
        let length = HeaderValue::from_maybe_shared(self.buffer.slice(self.length..)).ok()?;
        Some((CONTENT_LENGTH, length))
    }
}

/// The length of a header's line.
fn line(name: &HeaderName, value: &HeaderValue) -> usize {
    usize::from(value.is_sensitive()) + name.as_str().len() + 1 + value.len() + 1
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
                let lines: usize = map
                    .iter()
                    .filter(|(name, _)| **name != CONTENT_LENGTH)
                    .map(|(name, value)| line(name, value))
                    .sum();
                assert_eq!(room, lines + body.len() + map["content-length"].len());
            }
        }
    }
}
