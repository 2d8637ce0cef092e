//! Why parts were not joined, or a response not split.

use std::fmt;

/// Why parts were not joined, or a response not split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: Kind,
}

/// What was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// There is nothing to join.
    Empty,
    /// The parts differ in more than their input.
    Incompatible,
    /// The response is not what this endpoint answers: what is missing.
    Malformed(&'static str),
    /// The response has not one answer an input.
    Count {
        /// Inputs.
        expected: usize,
        /// Answers.
        found: usize,
    },
    /// The indices of the answers are not each of 0, 1, … once.
    Index,
}

// === impl Error ===

impl Error {
    pub(super) const fn new(kind: Kind) -> Self {
        Self { kind }
    }

    /// What was wrong.
    #[must_use]
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Empty => f.write_str("no requests to merge"),
            Kind::Incompatible => f.write_str("requests that differ cannot be merged"),
            Kind::Malformed(what) => write!(f, "the merged response has no {what}"),
            Kind::Count { expected, found } => {
                write!(
                    f,
                    "the merged response has {found} answers for {expected} inputs"
                )
            }
            Kind::Index => f.write_str("the indices of the merged response do not add up"),
        }
    }
}

impl std::error::Error for Error {}
