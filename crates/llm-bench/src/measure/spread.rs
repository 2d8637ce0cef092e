//! A figure measured several times.

use super::Sorted;
use serde::Serialize;
use std::fmt;

/// A figure measured once a round: the median, and how far the rounds lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The median of the rounds.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Spread {
    /// Of one figure a round.
    #[must_use]
    pub fn of(rounds: impl IntoIterator<Item = f64>) -> Self {
        let sorted: Sorted = rounds.into_iter().collect();
        Self {
            median: sorted.median(),
            least: sorted.least(),
            most: sorted.most(),
        }
    }

    /// Of the ratio of two figures, taken round by round: what slows a whole round down cancels out.
    #[must_use]
    pub fn of_ratio(above: &[f64], below: &[f64]) -> Self {
        Self::of(above.iter().zip(below).map(|(above, below)| above / below))
    }
}

impl fmt::Display for Spread {
    /// `median (least–most)`, with the formatter's precision.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        let Self {
            median,
            least,
            most,
        } = self;
        write!(f, "{median:.digits$} ({least:.digits$}–{most:.digits$})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        // Everything took three times as long in the second round.
        let ratio = Spread::of_ratio(&[20.0, 60.0, 22.0], &[10.0, 30.0, 10.0]);
        assert_eq!(
            ratio,
            Spread {
                median: 2.0,
                least: 2.0,
                most: 2.2
            }
        );
        assert_eq!(format!("{ratio:.1}"), "2.0 (2.0–2.2)");
    }
}
