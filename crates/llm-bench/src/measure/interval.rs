//! How sure a figure is.

use super::Sorted;
use serde::Serialize;
use std::fmt;

/// The two-sided 95 % point of the normal distribution.
const Z: f64 = 1.959_964;

/// The same of Student's t with 1, 2, … degrees of freedom; beyond these, its expansion in them is exact to four digits.
const T: [f64; 10] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
];

/// A figure and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The figure.
    pub value: f64,
    /// Where the interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

impl Interval {
    /// The mean of `values`, with the interval by Student's t. With fewer than two it is not known: NaN.
    #[must_use]
    pub fn of_mean(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let value = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|other| (other - value).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let half = t(values.len().saturating_sub(1)) * error;
        Self {
            value,
            low: value - half,
            high: value + half,
        }
    }

    /// The median of `values`, with the interval between two of them: ranks n / 2 ± 0.98 √n, whatever the distribution
    /// (Hollander and Wolfe, section 3.6).
    #[must_use]
    pub fn of_median(values: &[f64]) -> Self {
        let sorted = Sorted::new(values.to_vec());
        let (count, last) = (values.len() as f64, values.len().saturating_sub(1) as f64);
        let half = Z * count.sqrt() / 2.0;
        let low = ((count / 2.0 - half).floor() - 1.0).max(0.0);
        let high = (count / 2.0 + half).ceil().min(last);
        let at = |rank: f64| sorted.quantile(if last > 0.0 { rank / last } else { 0.0 });
        Self {
            value: sorted.median(),
            low: at(low),
            high: at(high),
        }
    }

    /// Half its width, as a share of the figure.
    #[must_use]
    pub fn relative(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.value.abs()
    }
}

fn t(freedom: usize) -> f64 {
    match freedom.checked_sub(1) {
        None => f64::NAN,
        Some(index) => T.get(index).copied().unwrap_or_else(|| {
            // Abramowitz and Stegun, 26.7.5.
            let nu = freedom as f64;
            let z = |power| Z.powi(power);
            Z + (z(3) + Z) / (4.0 * nu)
                + (5.0 * z(5) + 16.0 * z(3) + 3.0 * Z) / (96.0 * nu.powi(2))
                + (3.0 * z(7) + 19.0 * z(5) + 17.0 * z(3) - 15.0 * Z) / (384.0 * nu.powi(3))
        }),
    }
}

impl fmt::Display for Interval {
    /// `value [low, high]`, with the formatter's precision.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        let Self { value, low, high } = self;
        write!(f, "{value:.digits$} [{low:.digits$}, {high:.digits$}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand_distr::{Distribution, Exp1};

    #[test]
    fn students_points_are_those_of_the_tables() {
        for (freedom, point) in [
            (1, 12.706),
            (4, 2.776),
            (10, 2.228),
            (11, 2.201),
            (20, 2.086),
            (120, 1.980),
        ] {
            assert!(
                (t(freedom) - point).abs() < 6e-4,
                "{freedom}: {}",
                t(freedom)
            );
        }
        assert!(t(0).is_nan());
    }

    #[test]
    fn five_values_have_the_interval_of_the_textbook() {
        // Mean 3, standard deviation 1.5811, t 2.776: half the width is 2.776 · 1.5811 / √5.
        let interval = Interval::of_mean(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((interval.value - 3.0).abs() < 1e-9);
        assert!((interval.high - 4.9629).abs() < 1e-3, "{interval}");
        assert_eq!(format!("{interval:.1}"), "3.0 [1.0, 5.0]");
    }

    #[test]
    fn nineteen_of_twenty_intervals_hold_the_truth() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut means, mut medians) = (0, 0);
        for _ in 0..1000 {
            // Skewed, as latencies are: mean 1, median ln 2.
            let values: Vec<f64> = (0..200).map(|_| Exp1.sample(&mut random)).collect();
            let holds =
                |interval: Interval, truth: f64| interval.low <= truth && truth <= interval.high;
            means += u32::from(holds(Interval::of_mean(&values), 1.0));
            medians += u32::from(holds(Interval::of_median(&values), std::f64::consts::LN_2));
        }
        assert!((925..=975).contains(&means), "{means}");
        assert!((935..=985).contains(&medians), "{medians}");
    }
}
