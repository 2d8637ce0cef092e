//! Errors of the bounded policy.

use std::error::Error;
use std::fmt;

/// A setting is out of its range.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidSettings {
    setting: &'static str,
    value: f64,
    wanted: Wanted,
}

/// A stored state belongs to other settings, to another version, or is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidState {
    why: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
enum Wanted {
    Range(&'static str),
    AtLeast(f64),
}

// === impl InvalidSettings ===

impl InvalidSettings {
    pub(super) const fn new(setting: &'static str, value: f64, range: &'static str) -> Self {
        let wanted = Wanted::Range(range);
        Self {
            setting,
            value,
            wanted,
        }
    }

    pub(super) const fn grace(value: f64, least: f64) -> Self {
        Self {
            setting: "grace",
            value,
            wanted: Wanted::AtLeast(least),
        }
    }

    /// The name of the setting.
    #[must_use]
    pub const fn setting(&self) -> &'static str {
        self.setting
    }
}

impl fmt::Display for InvalidSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, value, .. } = self;
        match &self.wanted {
            Wanted::Range(range) => write!(f, "{setting} is {value}, and must be {range}"),
            Wanted::AtLeast(least) => write!(
                f,
                "{setting} is {value}, and nothing could be served below {least}: raise it, or audit more"
            ),
        }
    }
}

impl Error for InvalidSettings {}

// === impl InvalidState ===

#[cfg_attr(
    not(feature = "serde"),
    expect(dead_code, reason = "states are read with serde")
)]
impl InvalidState {
    pub(super) const fn new(why: &'static str) -> Self {
        Self { why }
    }
}

impl fmt::Display for InvalidState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stored state does not fit: {}", self.why)
    }
}

impl Error for InvalidState {}
