//! A counter on standard error, while it is a terminal.

use std::io::{self, IsTerminal, Write};

/// Says how far something long has come.
#[derive(Debug)]
pub struct Progress {
    what: &'static str,
    shown: bool,
}

// === impl Progress ===

impl Progress {
    /// Nothing is shown yet.
    #[must_use]
    pub fn new(what: &'static str) -> Self {
        Self {
            what,
            shown: io::stderr().is_terminal(),
        }
    }

    /// Shows that so many are done.
    pub fn at(&mut self, done: usize, of: usize) {
        if self.shown {
            // Nobody misses a counter that cannot be written.
            let _ = write!(io::stderr().lock(), "\r{}: {done} of {of}   ", self.what);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr().lock(), "\r\x1b[2K");
        }
    }
}
