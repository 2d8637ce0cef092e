//! Bytes that are not HTTP/1.1.

use std::fmt;

/// Bytes that are not HTTP/1.1, or not a part of it that is read here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Malformed(&'static str);

impl Malformed {
    pub(super) const fn new(what: &'static str) -> Self {
        Self(what)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed HTTP/1.1: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

impl From<httparse::Error> for Malformed {
    fn from(_: httparse::Error) -> Self {
        Self("the head cannot be read")
    }
}
