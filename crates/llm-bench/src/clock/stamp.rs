//! A moment.
#![expect(clippy::disallowed_types, reason = "real sockets answer in real time")]

use std::ops::Add;
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

impl Add<Duration> for Stamp {
    type Output = Self;

    /// So much later. A moment that the clock cannot tell is the one it started from: nobody waits for centuries.
    fn add(self, time: Duration) -> Self {
        Self(self.0.checked_add(time).unwrap_or(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_only_runs_forward() {
        let now = Stamp::now();
        let later = now + Duration::from_millis(5);
        assert_eq!(later.since(now), Duration::from_millis(5));
        assert_eq!(now.since(later), Duration::ZERO);
    }
}
