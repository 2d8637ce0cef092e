//! From bytes to events.

use bytes::{Bytes, BytesMut};

use super::{Block, Error, Event, boundary::Boundary};

/// Decodes a stream that arrives in chunks of any size. See the [module docs](super).
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// The unfinished event, where it began in an earlier chunk.
    partial: BytesMut,
    boundary: Boundary,
    first: bool,
    failed: bool,
}

// === impl Decoder ===

impl Decoder {
    /// The largest event that [`Decoder::new`] takes: 4 MiB.
    pub const DEFAULT_LIMIT: usize = 4 << 20;

    /// A decoder for events of up to 4 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(Self::DEFAULT_LIMIT)
    }

    /// A decoder for events of up to `limit` bytes, line ends and comments included.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        let (partial, boundary) = (BytesMut::new(), Boundary::START);
        Self {
            limit,
            partial,
            boundary,
            first: true,
            failed: false,
        }
    }

    /// The largest event it takes, in bytes.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The next event, taken from the front of `input`. None once `input` is used up; the rest of an event is kept.
    ///
    /// # Errors
    ///
    /// If an event is over the limit; then always.
    pub fn decode(&mut self, input: &mut Bytes) -> Result<Option<Event>, Error> {
        while let Some(block) = self.block(input)? {
            if let Some(event) = block.event() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The next block, taken from the front of `input`: like [`decode`](Self::decode), but with nothing left out.
    ///
    /// # Errors
    ///
    /// If a block is over the limit; then always.
    pub fn block(&mut self, input: &mut Bytes) -> Result<Option<Block>, Error> {
        if self.failed {
            return Err(Error::new(self.limit));
        }
        if input.is_empty() {
            return Ok(None);
        }
        let end = self.boundary.find(input);
        let head = input.split_to(end.unwrap_or(input.len()));
        if self.partial.len().saturating_add(head.len()) > self.limit {
            self.failed = true;
            return Err(Error::new(self.limit));
        }
        if end.is_some() && self.partial.is_empty() {
            return Ok(Some(self.whole(head)));
        }
        self.partial.extend_from_slice(&head);
        if end.is_none() {
            return Ok(None);
        }
        let raw = self.partial.split().freeze();
        Ok(Some(self.whole(raw)))
    }

    /// The last block, if the stream ended in the CR of a blank line, which might have been half a CRLF. Call it when the
    /// stream has ended.
    pub fn finish(&mut self) -> Option<Block> {
        if self.failed || !self.boundary.is_end() {
            return None;
        }
        self.boundary = Boundary::START;
        let raw = self.partial.split().freeze();
        Some(self.whole(raw))
    }

    /// Whether a stream that ends here ends between two events. If not, its last event is cut off.
    #[must_use]
    pub fn is_boundary(&self) -> bool {
        !self.failed && (self.partial.is_empty() || self.boundary.is_end())
    }

    /// The bytes of the unfinished event.
    #[must_use]
    pub fn remainder(&self) -> &[u8] {
        &self.partial
    }

    fn whole(&mut self, raw: Bytes) -> Block {
        Block::new(raw, std::mem::take(&mut self.first))
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}
