//! Why a stream makes no body.

use std::{error, fmt};

use bytes::Bytes;

use crate::sse;

/// Why a stream could not be made into a body.
#[derive(Debug, Clone)]
pub struct Error {
    kind: Kind,
    event: Option<Bytes>,
    source: Option<sse::Error>,
}

/// What was wrong with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The server sent an error as an event: [`Error::event`].
    Upstream,
    /// An event is not what this endpoint streams: [`Error::event`].
    Malformed,
    /// The stream ended within an event, or before every choice had a `finish_reason`.
    Unfinished,
    /// The stream told no usage.
    NoUsage,
    /// An event, or the whole answer, is over its limit.
    TooLarge,
    /// This endpoint does not stream.
    Endpoint,
}

// === impl Error ===

impl Error {
    pub(super) const fn new(kind: Kind) -> Self {
        Self {
            kind,
            event: None,
            source: None,
        }
    }

    pub(super) const fn event_error(kind: Kind, event: Bytes) -> Self {
        Self {
            kind,
            event: Some(event),
            source: None,
        }
    }

    /// What was wrong.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The data of the event that it is about. For [`Kind::Upstream`] an object whose `error` says what happened.
    #[must_use]
    pub const fn event(&self) -> Option<&Bytes> {
        self.event.as_ref()
    }
}

impl From<sse::Error> for Error {
    fn from(source: sse::Error) -> Self {
        Self {
            kind: Kind::TooLarge,
            event: None,
            source: Some(source),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Upstream => "the server reported an error within the stream",
            Kind::Malformed => "the server sent an event that cannot be understood",
            Kind::Unfinished => "the stream ended before the answer did",
            Kind::NoUsage => "the stream told no usage",
            Kind::TooLarge => "the streamed answer is too large",
            Kind::Endpoint => "this endpoint does not stream",
        })
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
