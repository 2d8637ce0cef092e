//! Quantiles, histograms, spreads, where an answer came from, what a server counts.

mod histogram;
mod interval;
mod openmetrics;
mod quantiles;
mod source;
mod spread;

pub use self::histogram::Histogram;
pub use self::interval::Interval;
pub use self::openmetrics::{Sample, samples};
pub use self::quantiles::Sorted;
pub use self::source::{Source, Tally};
pub use self::spread::Spread;

use std::time::Duration;

/// A length of time in milliseconds.
#[must_use]
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A length of time in microseconds.
#[must_use]
pub fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
