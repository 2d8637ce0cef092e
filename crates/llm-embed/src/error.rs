//! The errors of this crate.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use tower::BoxError;

/// A model that could not be loaded from its folder.
#[derive(Debug)]
pub struct NotLoaded {
    file: PathBuf,
    source: BoxError,
}

/// A text past the embedder's window. It was not cut and embedded: what stands beyond the window
/// may be just what tells two texts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    length: Length,
    window: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Tokens(usize),
    Bytes(usize),
}

/// The computation ended without an answer, since it panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Died {
    _private: (),
}

// === impl NotLoaded ===

impl NotLoaded {
    #[cfg(feature = "minilm")]
    pub(crate) fn new(file: &Path, source: impl Into<BoxError>) -> Self {
        Self {
            file: file.to_owned(),
            source: source.into(),
        }
    }

    /// The file that is missing or that cannot be used.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }
}

impl fmt::Display for NotLoaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no model: {}", self.file.display())
    }
}

impl Error for NotLoaded {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

// === impl TooLong ===

#[cfg(feature = "minilm")]
impl TooLong {
    pub(crate) const fn tokens(tokens: usize, window: usize) -> Self {
        Self {
            length: Length::Tokens(tokens),
            window,
        }
    }

    pub(crate) const fn bytes(bytes: usize, window: usize) -> Self {
        Self {
            length: Length::Bytes(bytes),
            window,
        }
    }
}

impl TooLong {
    /// The most tokens a text may have, special ones included.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.window
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (length, unit) = match self.length {
            Length::Tokens(tokens) => (tokens, "tokens"),
            Length::Bytes(bytes) => (bytes, "bytes"),
        };
        let window = self.window;
        write!(
            f,
            "a text of {length} {unit} is past the window of {window} tokens"
        )
    }
}

impl Error for TooLong {}

// === impl Died ===

#[cfg(feature = "minilm")]
impl Died {
    pub(crate) const fn new() -> Self {
        Self { _private: () }
    }
}

impl fmt::Display for Died {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the embedder panicked")
    }
}

impl Error for Died {}
