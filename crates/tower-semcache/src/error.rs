//! The errors of this crate.

use std::error::Error;
use std::fmt;

/// A threshold outside (0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidThreshold {
    cosine: f32,
}

/// A setting with which no cache can work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSetting {
    message: &'static str,
}

/// The caller wanted nothing but a stored answer, and there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotCached {
    _private: (),
}

// === impl InvalidThreshold ===

impl InvalidThreshold {
    pub(crate) const fn new(cosine: f32) -> Self {
        Self { cosine }
    }
}

impl fmt::Display for InvalidThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a similarity threshold is a number above 0 and at most 1, not {}",
            self.cosine
        )
    }
}

impl Error for InvalidThreshold {}

// === impl InvalidSetting ===

impl InvalidSetting {
    pub(crate) const fn new(message: &'static str) -> Self {
        Self { message }
    }
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl Error for InvalidSetting {}

// === impl NotCached ===

impl NotCached {
    pub(crate) const fn new() -> Self {
        Self { _private: () }
    }
}

impl fmt::Display for NotCached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no stored answer, and nothing else was wanted")
    }
}

impl Error for NotCached {}
