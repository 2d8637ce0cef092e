//! Means with confidence intervals.

use serde::Serialize;

/// A mean and the half width of its 95 % confidence interval (Student's t).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval; infinite for fewer than two values.
    pub half_width: f64,
}

impl Interval {
    /// The interval of independent values: one a seed, or one a batch of a long run.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        if values.len() < 2 {
            return Self {
                mean,
                half_width: f64::INFINITY,
            };
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (n - 1.0)).sqrt();
        Self {
            mean,
            half_width: student(n - 1.0) * deviation / n.sqrt(),
        }
    }

    /// Whether a value lies in the interval.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (value - self.mean).abs() <= self.half_width
    }
}

/// The 97.5 % point of Student's t: the Cornish–Fisher expansion, within 0.6 % from 3 degrees of
/// freedom on; tabled below.
fn student(degrees: f64) -> f64 {
    if degrees < 1.5 {
        return 12.706;
    }
    if degrees < 2.5 {
        return 4.303;
    }
    let z = 1.959_964_f64;
    z + (z.powi(3) + z) / (4.0 * degrees)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * degrees.powi(2))
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z)
            / (384.0 * degrees.powi(3))
        + (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5)
            - 1920.0 * z.powi(3)
            - 945.0 * z)
            / (92_160.0 * degrees.powi(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_points_are_those_of_the_tables() {
        for (degrees, want) in [(3.0, 3.182), (9.0, 2.262), (29.0, 2.045)] {
            assert!((student(degrees) / want - 1.0).abs() < 0.006);
        }
    }
}
