//! One event.

use std::time::Duration;

use bytes::Bytes;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Event {
    /// `event:`, the last one of several.
    pub name: Option<Bytes>,
    /// All `data:` lines, joined by line feeds.
    pub data: Bytes,
    /// `id:`, the last one of several; of this event alone, not carried over from an earlier one.
    pub id: Option<Bytes>,
    /// `retry:`, how long to wait before reconnecting.
    pub retry: Option<Duration>,
}

// === impl Event ===

impl Event {
    /// An event with nothing but data.
    #[must_use]
    pub fn new(data: impl Into<Bytes>) -> Self {
        Self {
            data: data.into(),
            ..Self::default()
        }
    }

    /// Gives it a name (`event:`).
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Bytes>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Gives it an id (`id:`).
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Bytes>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Gives it a time to wait before reconnecting (`retry:`), in whole milliseconds.
    #[must_use]
    pub const fn with_retry(mut self, retry: Duration) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Whether this is the `[DONE]` that ends most streams.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.data == super::DONE
    }
}
