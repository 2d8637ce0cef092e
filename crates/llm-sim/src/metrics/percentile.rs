//! The reference's percentiles and rounding.

/// `sorted[round_half_even((n − 1) · q)]`; 0 for nothing.
#[must_use]
pub fn percentile(sorted: &[f64], q: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let at = (last as f64 * q).round_ties_even() as usize;
    sorted.get(at.min(last)).copied().unwrap_or(0.0)
}

/// Rounds to `digits` decimals as Python's `round` does: the decimal nearest to the exact value of
/// the binary number, half to even.
#[must_use]
pub fn round(x: f64, digits: usize) -> f64 {
    format!("{x:.digits$}").parse().unwrap_or(x)
}
