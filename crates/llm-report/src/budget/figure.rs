//! One figure: what was expected, what was measured, and how far apart they may be.

use super::Clock;
use serde::{Serialize, Serializer};
use std::fmt;

/// How a measured figure must stand to the expected one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Equal, up to the last bits of the arithmetic.
    Exact,
    /// Within this share of it.
    Within(f64),
    /// Not above it.
    AtMost,
    /// Not below it.
    AtLeast,
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Within(share) => write!(f, "± {} %", round(share * 100.0)),
            Self::AtMost => f.write_str("at most"),
            Self::AtLeast => f.write_str("at least"),
        }
    }
}

impl Serialize for Tolerance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it says.
    pub figure: String,
    /// Its unit; empty for a count.
    pub unit: &'static str,
    /// What it must be.
    #[serde(serialize_with = "rounded")]
    pub expected: f64,
    /// What it is.
    #[serde(serialize_with = "rounded")]
    pub measured: f64,
    /// Measured by expected; none where 0 was expected.
    #[serde(serialize_with = "rounded_option")]
    pub ratio: Option<f64>,
    /// How far apart they may be.
    pub tolerance: Tolerance,
    /// By which clock, where it is not the row's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Whether it is within the tolerance.
    pub passed: bool,
}

impl Figure {
    /// Holds `measured` against `expected`. NaN never passes.
    #[must_use]
    pub fn new(
        figure: impl Into<String>,
        unit: &'static str,
        expected: f64,
        measured: f64,
        tolerance: Tolerance,
    ) -> Self {
        let near = |share: f64| (measured - expected).abs() <= share * expected.abs().max(1e-9);
        Self {
            figure: figure.into(),
            unit,
            expected,
            measured,
            ratio: (expected != 0.0).then(|| measured / expected),
            tolerance,
            clock: None,
            passed: match tolerance {
                Tolerance::Exact => near(1e-9),
                Tolerance::Within(share) => near(share),
                Tolerance::AtMost => measured <= expected,
                Tolerance::AtLeast => measured >= expected,
            },
        }
    }

    /// A count that must be exactly this.
    #[must_use]
    pub fn count(figure: impl Into<String>, expected: usize, measured: usize) -> Self {
        Self::new(
            figure,
            "",
            expected as f64,
            measured as f64,
            Tolerance::Exact,
        )
    }

    /// It was measured by another clock than the rest of its row.
    #[must_use]
    pub const fn by(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }
}

/// Six significant digits: more than any figure here means, and few enough to be read.
#[must_use]
pub fn round(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn rounded<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(round(*value))
}

fn rounded_option<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.serialize_some(&round(*value)),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(measured: f64, tolerance: Tolerance) -> bool {
        Figure::new("", "ms", 100.0, measured, tolerance).passed
    }

    #[test]
    fn each_tolerance_has_an_edge() {
        assert!(passes(100.0 + 1e-12, Tolerance::Exact) && !passes(100.001, Tolerance::Exact));
        assert!(passes(98.1, Tolerance::Within(0.02)) && !passes(97.9, Tolerance::Within(0.02)));
        assert!(passes(100.0, Tolerance::AtMost) && !passes(100.1, Tolerance::AtMost));
        assert!(passes(100.0, Tolerance::AtLeast) && !passes(99.9, Tolerance::AtLeast));
    }

    #[test]
    fn what_was_not_measured_never_passes() {
        for tolerance in [
            Tolerance::Exact,
            Tolerance::Within(1.0),
            Tolerance::AtMost,
            Tolerance::AtLeast,
        ] {
            assert!(!passes(f64::NAN, tolerance));
        }
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        let figure = Figure::count("stale hits", 0, 0);
        assert!(figure.passed && figure.ratio.is_none());
        assert!(!Figure::count("stale hits", 0, 1).passed);
    }
}
