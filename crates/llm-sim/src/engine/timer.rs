//! Timers of fronts.

use std::cmp::Ordering;

/// A timer: earlier first, then in the order they were set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    pub(super) at_ms: f64,
    pub(super) order: u64,
    /// How many fronts are around the one that set it.
    pub(super) depth: u32,
    pub(super) token: u64,
}

/// A timer that is due, on its way to the front that set it.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    depth: u32,
    token: u64,
}

// === impl Timer ===

impl Timer {
    pub(super) const fn due(&self) -> Due {
        Due {
            depth: self.depth,
            token: self.token,
        }
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timer {}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at_ms
            .total_cmp(&other.at_ms)
            .then(self.order.cmp(&other.order))
    }
}

// === impl Due ===

impl Due {
    /// The token of the front that is asked, or for the front within it the same timer.
    ///
    /// # Errors
    ///
    /// The timer, where a front further in has set it: hand it on.
    pub const fn token(self) -> Result<u64, Self> {
        match self.depth.checked_sub(1) {
            None => Ok(self.token),
            Some(depth) => Err(Self { depth, ..self }),
        }
    }
}
