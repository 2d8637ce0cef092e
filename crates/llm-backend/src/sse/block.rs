//! The bytes of one event.

use std::{ops::Range, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use memchr::{memchr, memchr2};

use super::Event;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// All bytes from the end of one event to the end of the next: its lines, comments included, and the blank line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    raw: Bytes,
    /// Where the lines begin: after the byte order mark, in the first block.
    start: usize,
}

// === impl Block ===

impl Block {
    pub(super) fn new(raw: Bytes, first: bool) -> Self {
        let start = if first && raw.starts_with(BOM) {
            BOM.len()
        } else {
            0
        };
        Self { raw, start }
    }

    /// The bytes, as they came.
    #[must_use]
    pub const fn raw(&self) -> &Bytes {
        &self.raw
    }

    /// The bytes, as they came.
    #[must_use]
    pub fn into_raw(self) -> Bytes {
        self.raw
    }

    /// The event in it, if there is one: comments and blank lines have none, nor has an event without a `data` line.
    #[must_use]
    pub fn event(&self) -> Option<Event> {
        let mut event = Event::default();
        let mut data = Data::None;
        for (field, value) in self.fields() {
            match self.raw.get(field) {
                Some(b"data") => data = data.line(&self.raw, value),
                Some(b"event") => event.name = Some(self.raw.slice(value)),
                Some(b"id") => {
                    let id = self.raw.slice(value);
                    if memchr(0, &id).is_none() {
                        event.id = Some(id);
                    }
                }
                Some(b"retry") => {
                    let digits = self
                        .raw
                        .get(value)
                        .filter(|v| v.iter().all(u8::is_ascii_digit));
                    let millis = digits.and_then(|v| std::str::from_utf8(v).ok()?.parse().ok());
                    event.retry = millis.map(Duration::from_millis).or(event.retry);
                }
                _ => {}
            }
        }
        event.data = match data {
            Data::None => return None,
            Data::One(range) => self.raw.slice(range),
            Data::Joined(joined) => joined.freeze(),
        };
        Some(event)
    }

    /// Where in the raw bytes the data lies, if it is on one line.
    pub(crate) fn data_range(&self) -> Option<Range<usize>> {
        let is_data = |(field, value)| (self.raw.get(field) == Some(&b"data"[..])).then_some(value);
        let mut data = self.fields().filter_map(is_data);
        data.next().filter(|_| data.next().is_none())
    }

    /// The fields, each as two ranges of the raw bytes: name and value. Comments have none.
    fn fields(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        let raw = &*self.raw;
        let mut at = self.start;
        let lines = std::iter::from_fn(move || {
            let rest = raw.get(at..).filter(|rest| !rest.is_empty())?;
            let start = at;
            let end = start + memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            // Of a CRLF the LF is left over as one more blank line, which says nothing.
            at = end + 1;
            Some(start..end)
        });
        lines.filter_map(move |line| {
            let text = raw.get(line.clone()).filter(|text| !text.is_empty())?;
            let Some(colon) = memchr(b':', text) else {
                return Some((line.clone(), line.end..line.end));
            };
            let space = text.get(colon + 1) == Some(&b' ');
            let value = line.start + colon + 1 + usize::from(space);
            (colon > 0).then_some((line.start..line.start + colon, value..line.end))
        })
    }
}

/// The data lines so far.
enum Data {
    None,
    One(Range<usize>),
    Joined(BytesMut),
}

// === impl Data ===

impl Data {
    fn line(self, raw: &[u8], line: Range<usize>) -> Self {
        let mut joined = match self {
            Self::None => return Self::One(line),
            Self::One(first) => BytesMut::from(raw.get(first).unwrap_or_default()),
            Self::Joined(joined) => joined,
        };
        joined.put_u8(b'\n');
        joined.extend_from_slice(raw.get(line).unwrap_or_default());
        Self::Joined(joined)
    }
}
