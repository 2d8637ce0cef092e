//! Little's law, counted in whole nanoseconds, so that it holds exactly.

/// ∫ N(t) dt beside Σ of the times in the system.
///
/// Both are sums of integers: they are equal, not merely close, whenever the bookkeeping of a
/// simulation is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Little {
    present: i128,
    last_ns: i128,
    area_ns: i128,
    sojourns_ns: i128,
    backward: u64,
}

fn nanoseconds(ms: f64) -> i128 {
    (ms * 1e6).round() as i128
}

impl Little {
    /// One more in the system.
    pub fn enter(&mut self, now_ms: f64) {
        self.advance(now_ms);
        self.present += 1;
    }

    /// One less, which had entered at `entered_ms`.
    pub fn leave(&mut self, now_ms: f64, entered_ms: f64) {
        self.advance(now_ms);
        self.present -= 1;
        self.sojourns_ns += nanoseconds(now_ms) - nanoseconds(entered_ms);
    }

    fn advance(&mut self, now_ms: f64) {
        let now = nanoseconds(now_ms);
        if now < self.last_ns {
            self.backward += 1;
        }
        self.area_ns += self.present * (now - self.last_ns);
        self.last_ns = now;
    }

    /// How many are in the system.
    #[must_use]
    pub const fn present(&self) -> i128 {
        self.present
    }

    /// ∫ N(t) dt, in nanoseconds.
    #[must_use]
    pub const fn area_ns(&self) -> i128 {
        self.area_ns
    }

    /// Σ of the times in the system of those that have left, in nanoseconds.
    #[must_use]
    pub const fn sojourns_ns(&self) -> i128 {
        self.sojourns_ns
    }

    /// How often time ran back: 0.
    #[must_use]
    pub const fn backward(&self) -> u64 {
        self.backward
    }

    /// The mean number in the system over time.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.area_ns as f64 / (self.last_ns.max(1)) as f64
    }
}
