//! Exact quantiles.

/// Values in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts `values`.
    #[must_use]
    pub fn new(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// The quantile `q` in 0 ..= 1: between the two values beside position `q · (n − 1)`, in proportion (Hyndman and Fan's
    /// type 7, the default of NumPy and R). NaN without values.
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        let Some(last) = self.0.len().checked_sub(1) else {
            return f64::NAN;
        };
        let position = q.clamp(0.0, 1.0) * last as f64;
        let (below, above) = (position.floor(), position.ceil());
        let at = |index: f64| self.0.get(index as usize).copied().unwrap_or(f64::NAN);
        at(below) + (at(above) - at(below)) * (position - below)
    }

    /// The quantile 0.5.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The mean; NaN without values.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The smallest; NaN without values.
    #[must_use]
    pub fn least(&self) -> f64 {
        self.quantile(0.0)
    }

    /// The largest; NaN without values.
    #[must_use]
    pub fn most(&self) -> f64 {
        self.quantile(1.0)
    }
}

impl FromIterator<f64> for Sorted {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self::new(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_lies_between_its_neighbours() {
        // Service of 500 ms, a request each 100 ms, one at a time: the n-th waits for those before it.
        let waits: Sorted = (0..8).map(|n| 500.0 + 400.0 * f64::from(n)).collect();
        assert!((waits.quantile(0.99) - 3272.0).abs() < 1e-9);
        assert!((waits.mean() - 1900.0).abs() < 1e-9);
        assert!((waits.median() - 1900.0).abs() < 1e-9);
        assert_eq!((waits.least(), waits.most()), (500.0, 3300.0));
    }

    #[test]
    fn one_value_is_every_quantile_and_no_value_is_none() {
        let one = Sorted::new(vec![7.0]);
        assert_eq!((one.quantile(0.0), one.quantile(0.99)), (7.0, 7.0));
        assert!(Sorted::default().median().is_nan());
        assert!(Sorted::default().mean().is_nan());
    }
}
