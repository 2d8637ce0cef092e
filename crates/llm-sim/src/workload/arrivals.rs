//! When requests arrive.

use crate::rng::PyRandom;

/// A renewal process: independent, identically distributed gaps between arrivals.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    rate_rps: f64,
    gap: Gap,
}

#[derive(Clone, Copy, Debug)]
enum Gap {
    Exponential,
    Gamma { shape: f64 },
    Constant,
    None,
}

impl Arrivals {
    /// Poisson arrivals.
    #[must_use]
    pub const fn poisson(rate_rps: f64) -> Self {
        Self {
            rate_rps,
            gap: Gap::Exponential,
        }
    }

    /// Gaps with a gamma law of the given coefficient of variation: 1 is Poisson, above it arrivals
    /// come in bursts, below it they are regular.
    #[must_use]
    pub fn gamma(rate_rps: f64, variation: f64) -> Self {
        Self {
            rate_rps,
            gap: Gap::Gamma {
                shape: 1.0 / (variation * variation),
            },
        }
    }

    /// One arrival every 1/rate.
    #[must_use]
    pub const fn regular(rate_rps: f64) -> Self {
        Self {
            rate_rps,
            gap: Gap::Constant,
        }
    }

    /// Everything at time 0: how a saturated server is measured.
    #[must_use]
    pub const fn at_once() -> Self {
        Self {
            rate_rps: f64::INFINITY,
            gap: Gap::None,
        }
    }

    /// The clock of one run.
    #[must_use]
    pub const fn start(self) -> Clock {
        Clock {
            arrivals: self,
            now_ms: 0.0,
        }
    }
}

/// The arrival times of one run, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    arrivals: Arrivals,
    now_ms: f64,
}

impl Clock {
    /// The next arrival, in milliseconds.
    pub fn next(&mut self, random: &mut PyRandom) -> f64 {
        let rate = self.arrivals.rate_rps;
        self.now_ms += match self.arrivals.gap {
            Gap::Exponential => random.exponential(rate) * 1000.0,
            Gap::Gamma { shape } => random.gamma(shape) / rate * 1000.0,
            Gap::Constant => 1000.0 / rate,
            Gap::None => 0.0,
        };
        self.now_ms
    }
}
