//! Why a stream cannot be decoded.

use std::fmt;

/// An event grew over the decoder's limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    limit: usize,
}

// === impl Error ===

impl Error {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit }
    }

    /// The limit, in bytes.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event larger than {} bytes", self.limit)
    }
}

impl std::error::Error for Error {}
