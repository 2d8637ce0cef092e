//! A figure held against what it must be.

use serde::Serialize;
use std::fmt;

/// A figure held against what it must be.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Check {
    /// What was measured.
    pub figure: String,
    /// What it must be.
    pub expected: String,
    /// What it is.
    pub measured: String,
    /// Whether it is so.
    pub passed: bool,
}

impl Check {
    /// The figure must be exactly this.
    #[must_use]
    pub fn equal<T: PartialEq + fmt::Display>(
        figure: impl Into<String>,
        expected: T,
        measured: T,
    ) -> Self {
        Self {
            figure: figure.into(),
            passed: expected == measured,
            expected: expected.to_string(),
            measured: measured.to_string(),
        }
    }

    /// The figure must not be above `limit`; `unit` is written behind both. NaN never passes.
    #[must_use]
    pub fn at_most(figure: impl Into<String>, limit: f64, measured: f64, unit: &str) -> Self {
        Self {
            figure: figure.into(),
            expected: format!("≤ {}{unit}", significant(limit)),
            measured: format!("{}{unit}", significant(measured)),
            passed: measured <= limit,
        }
    }
}

/// As many digits as a reader compares.
fn significant(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            figure,
            expected,
            measured,
            passed,
        } = self;
        let mark = if *passed { "ok  " } else { "FAIL" };
        write!(f, "{mark} {figure}: {measured} (expected {expected})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_says_what_it_compared() {
        assert_eq!(
            Check::equal("hits", 64, 63).to_string(),
            "FAIL hits: 63 (expected 64)"
        );
        assert_eq!(
            Check::at_most("p50", 300.0, 120.4, " µs").to_string(),
            "ok   p50: 120 µs (expected ≤ 300 µs)"
        );
    }

    #[test]
    fn a_figure_that_is_missing_never_passes() {
        assert!(!Check::at_most("p50", 300.0, f64::NAN, "").passed);
    }
}
