//! Why an answer is not there.

use crate::http1::Malformed;
use std::time::Duration;
use std::{fmt, io};

/// Why an answer is not there, or not whole.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No connection.
    Connect(io::Error),
    /// The socket failed.
    Io(io::Error),
    /// The server closed before the end of its answer; after so many bytes of it.
    Cut(usize),
    /// What came is not HTTP/1.1.
    Malformed(Malformed),
    /// The answer is over the limit, in bytes.
    TooLarge(usize),
    /// It is not there after so long.
    Timeout(Duration),
    /// Nothing has been sent or received yet.
    Nothing,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(_) => f.write_str("no connection"),
            Self::Timeout(time) => write!(f, "no whole answer after {time:?}"),
            Self::Io(_) => f.write_str("the socket failed"),
            Self::Cut(after) => write!(f, "the answer was cut after {after} bytes"),
            Self::Malformed(_) => f.write_str("the answer cannot be read"),
            Self::TooLarge(limit) => write!(f, "the answer is over {limit} bytes"),
            Self::Nothing => f.write_str("there is no answer yet"),
        }
    }
}

impl Error {
    /// What `error` means while a connection is opened.
    pub(crate) fn connect(error: Self) -> Self {
        match error {
            Self::Io(error) => Self::Connect(error),
            other => other,
        }
    }

    /// Whether it is what a connection says that the server had closed before.
    pub(crate) const fn is_stale(&self) -> bool {
        matches!(self, Self::Io(_) | Self::Cut(_))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) | Self::Connect(error) => Some(error),
            Self::Malformed(error) => Some(error),
            Self::Cut(_) | Self::TooLarge(_) | Self::Timeout(_) | Self::Nothing => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Malformed> for Error {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}
