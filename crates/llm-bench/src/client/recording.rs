//! What arrived, and when.

use super::Error;
use crate::clock::Stamp;
use crate::http1::{self, ResponseHead};
use crate::measure::Source;
use bytes::{Bytes, BytesMut};
use llm_backend::sse::Decoder;

/// What is set aside for reads, and how much of it must be left for the next one.
const READ: usize = 8 << 10;
const LEFT: usize = 2 << 10;

/// The largest answer that is recorded.
const LIMIT: usize = 64 << 20;

/// One answer: its bytes as they came, with the moment at which each piece did.
#[derive(Debug, Default)]
pub struct Recording {
    raw: BytesMut,
    /// Where each piece ends in `raw`.
    pieces: Vec<Timed<usize>>,
    sent: Option<Stamp>,
    head: Option<ResponseHead>,
    /// The head, with how far its body has been read.
    progress: Option<ResponseHead>,
    /// How much of `raw` has been looked at.
    seen: usize,
}

/// Something, and when it was there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Timed<T> {
    /// When it arrived.
    pub at: Stamp,
    /// What arrived.
    pub what: T,
}

// === while it arrives ===

impl Recording {
    pub(super) fn start(&mut self, sent: Stamp) {
        self.raw.clear();
        self.pieces.clear();
        (self.sent, self.head, self.progress, self.seen) = (Some(sent), None, None, 0);
    }

    pub(super) fn space(&mut self) -> &mut BytesMut {
        if self.raw.capacity() - self.raw.len() < LEFT {
            self.raw.reserve(READ);
        }
        &mut self.raw
    }

    /// Notes that a read of `length` bytes ended at `at`. True at the end of the answer.
    pub(super) fn arrived(&mut self, length: usize, at: Stamp) -> Result<bool, Error> {
        if length == 0 {
            let is_end = self
                .progress
                .as_ref()
                .is_some_and(|head| head.framing.ends_at_close());
            return if is_end {
                Ok(true)
            } else {
                Err(Error::Cut(self.raw.len()))
            };
        }
        self.pieces.push(Timed {
            at,
            what: self.raw.len(),
        });
        if self.raw.len() > LIMIT {
            return Err(Error::TooLarge(LIMIT));
        }
        if self.progress.is_none() {
            let Some(head) = ResponseHead::parse(&self.raw)? else {
                return Ok(false);
            };
            self.seen = head.length;
            self.head = Some(head.clone());
            self.progress = Some(head);
        }
        let Some(head) = &mut self.progress else {
            return Ok(false);
        };
        if head.framing.is_empty() {
            return Ok(true);
        }
        let progress = head
            .framing
            .read(self.raw.get(self.seen..).unwrap_or_default(), |_| {})?;
        self.seen += progress.used;
        Ok(progress.ended)
    }
}

// === afterwards ===

impl Recording {
    /// When the request was sent.
    ///
    /// # Errors
    /// Nothing has been sent.
    pub fn sent(&self) -> Result<Stamp, Error> {
        self.sent.ok_or(Error::Nothing)
    }

    /// When the first byte of the answer arrived.
    ///
    /// # Errors
    /// Nothing has arrived.
    pub fn first(&self) -> Result<Stamp, Error> {
        self.pieces
            .first()
            .map(|piece| piece.at)
            .ok_or(Error::Nothing)
    }

    /// When the last byte of the answer arrived.
    ///
    /// # Errors
    /// Nothing has arrived.
    pub fn ended(&self) -> Result<Stamp, Error> {
        self.pieces
            .last()
            .map(|piece| piece.at)
            .ok_or(Error::Nothing)
    }

    /// The status code; 0 without an answer.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.head.as_ref().map_or(0, |head| head.status)
    }

    /// The value of a field.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        http1::header(&self.raw, name)
    }

    /// Whether the connection may be used again: the answer had an end of its own, and the server does not say `close`.
    #[must_use]
    pub fn keeps_alive(&self) -> bool {
        let ends_at_close = self
            .head
            .as_ref()
            .is_none_or(|head| head.framing.ends_at_close());
        let closes = self
            .header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case(b"close"));
        !ends_at_close && !closes
    }

    /// Where the answer came from, by its own words.
    #[must_use]
    pub fn source(&self) -> Source {
        self.header("cache-status")
            .map_or(Source::Unsaid, Source::of)
    }

    /// The content, without its framing.
    #[must_use]
    pub fn body(&self) -> Bytes {
        let mut body = BytesMut::with_capacity(self.raw.len());
        self.content(|_, piece| body.extend_from_slice(piece));
        body.freeze()
    }

    /// When the first byte of the content arrived; none without content.
    #[must_use]
    pub fn first_content(&self) -> Option<Stamp> {
        let mut first = None;
        self.content(|at, _| first = first.or(Some(at)));
        first
    }

    /// The data of each server-sent event in the content, stamped when its last byte arrived.
    #[must_use]
    pub fn events(&self) -> Vec<Timed<Bytes>> {
        let mut decoder = Decoder::new();
        let mut events = Vec::new();
        self.content(|at, piece| {
            let mut piece = Bytes::copy_from_slice(piece);
            while let Ok(Some(event)) = decoder.decode(&mut piece) {
                events.push(Timed {
                    at,
                    what: event.data,
                });
            }
        });
        events
    }

    /// The content in the pieces in which it arrived.
    fn content(&self, mut each: impl FnMut(Stamp, &[u8])) {
        let Some(head) = &self.head else { return };
        let mut framing = head.framing.clone();
        let mut from = head.length;
        for piece in self.pieces.iter().filter(|piece| piece.what > head.length) {
            let bytes = self.raw.get(from..piece.what).unwrap_or_default();
            let read = framing.read(bytes, |content| {
                if !content.is_empty() {
                    each(piece.at, content);
                }
            });
            // It was read once before, to find the end.
            if read.is_err() {
                return;
            }
            from = piece.what;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(pieces: &[&str]) -> Result<(Recording, bool), Error> {
        let mut recording = Recording::default();
        recording.start(Stamp::now());
        let mut ended = false;
        for piece in pieces {
            recording.space().extend_from_slice(piece.as_bytes());
            ended = recording.arrived(piece.len(), Stamp::now())?;
        }
        Ok((recording, ended))
    }

    #[test]
    fn an_answer_of_known_length_is_read_from_any_pieces() {
        let (recording, ended) = record(&[
            "HTTP/1.1 200 OK\r\ncontent-",
            "length: 4\r\n\r\n",
            "ab",
            "cd",
        ])
        .unwrap();
        assert!(ended);
        assert_eq!(
            (recording.status(), recording.body()),
            (200, Bytes::from_static(b"abcd"))
        );
        assert_eq!(recording.first_content(), Some(recording.pieces[2].at));
    }

    #[test]
    fn an_event_is_stamped_when_its_last_byte_arrived() {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let (recording, ended) = record(&[
            head,
            "9\r\ndata: 1\n\n\r\n7\r\ndata: 2\r\n",
            "2\r\n\n\n\r\n",
            "0\r\n\r\n",
        ])
        .unwrap();
        assert!(ended);
        let events = recording.events();
        assert_eq!(
            events
                .iter()
                .map(|event| &event.what[..])
                .collect::<Vec<_>>(),
            [b"1", b"2"]
        );
        assert_eq!(
            events.iter().map(|event| event.at).collect::<Vec<_>>(),
            [recording.pieces[1].at, recording.pieces[2].at]
        );
    }

    #[test]
    fn an_answer_without_content_ends_with_its_head() {
        let (recording, ended) = record(&["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"]).unwrap();
        assert!(ended);
        assert_eq!(
            (recording.body().len(), recording.first_content()),
            (0, None)
        );
    }

    #[test]
    fn a_close_before_the_end_is_a_cut() {
        let cut = record(&["HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab", ""]);
        assert!(matches!(cut, Err(Error::Cut(40))), "{cut:?}");
        assert!(
            record(&["HTTP/1.1 200 OK\r\n\r\nab", ""]).unwrap().1,
            "without a length, the close is the end"
        );
    }
}
