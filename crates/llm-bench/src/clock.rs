//! When something happened, in real time.
//!
//! Load tests over sockets measure the world outside of this process, so their clock can never be paused.
#![expect(clippy::disallowed_types, reason = "real sockets answer in real time")]

use std::time::Duration;

/// A moment.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Stamp(std::time::Instant);

impl Stamp {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        Self(std::time::Instant::now())
    }

    /// The time from `earlier` to here; zero if it was later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }
}
