//! Why a text was refused.

use std::fmt;

/// Why a JSON text was refused, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
    offset: usize,
}

/// What was wrong with a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Not JSON: what was expected instead.
    Syntax(&'static str),
    /// The bytes are not UTF-8.
    Utf8,
    /// Nested [`DEPTH_LIMIT`](super::DEPTH_LIMIT) levels or more.
    TooDeep,
    /// Valid JSON, but not an object.
    NotAnObject,
    /// A key appears twice in one object: its name, decoded.
    DuplicateKey(String),
}

// === impl Error ===

impl Error {
    pub(super) const fn new(kind: Kind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// What was wrong.
    #[must_use]
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Where, in bytes from the start of the text. For a duplicate key: where it appears the second time.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Syntax(expected) => write!(f, "expected {expected}")?,
            Kind::Utf8 => f.write_str("not UTF-8")?,
            Kind::TooDeep => f.write_str("nested too deeply")?,
            Kind::NotAnObject => f.write_str("expected an object")?,
            Kind::DuplicateKey(name) => write!(f, "duplicate key {name:?}")?,
        }
        write!(f, " at byte {}", self.offset)
    }
}

impl std::error::Error for Error {}
