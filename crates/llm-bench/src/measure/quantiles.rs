//! Exact quantiles.

/// Values in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// No values.
    pub const NONE: Self = Self(Vec::new());

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The standard deviation of the values themselves (n below the sum, as NumPy's `std`); NaN without values.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / self.0.len() as f64).sqrt()
    }

    /// The values, in ascending order.
    #[must_use]
    pub fn values(&self) -> impl ExactSizeIterator<Item = f64> {
        self.0.iter().copied()
    }

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
    use proptest::prelude::*;

    #[test]
    fn a_quantile_lies_between_its_neighbours() {
        // Service of 500 ms, a request each 100 ms, one at a time: the n-th waits for those before it.
        let waits: Sorted = (0..8).map(|n| 500.0 + 400.0 * f64::from(n)).collect();
        assert!((waits.quantile(0.99) - 3272.0).abs() < 1e-9);
        assert!((waits.mean() - 1900.0).abs() < 1e-9);
        assert!((waits.median() - 1900.0).abs() < 1e-9);
        assert_eq!((waits.least(), waits.most()), (500.0, 3300.0));
    }

    proptest! {
        #[test]
        fn a_quantile_is_what_a_sort_by_hand_gives(
            values in prop::collection::vec(0.0_f64..1e6, 1..200),
            percent in 0_u32..=100,
        ) {
            // By hand: insertion sort, the two neighbours of position p (n - 1) / 100 in whole numbers.
            let mut by_hand: Vec<f64> = Vec::new();
            for &value in &values {
                let at = by_hand.iter().take_while(|other| **other <= value).count();
                by_hand.insert(at, value);
            }
            let steps = percent as usize * (values.len() - 1);
            let (below, rest) = (steps / 100, steps % 100);
            let above = (below + 1).min(values.len() - 1);
            let truth = by_hand[below] + (by_hand[above] - by_hand[below]) * rest as f64 / 100.0;
            let measured = Sorted::new(values).quantile(f64::from(percent) / 100.0);
            prop_assert!((measured - truth).abs() <= 1e-6, "{} for {}", measured, truth);
        }
    }

    #[test]
    fn one_value_is_every_quantile_and_no_value_is_none() {
        let one = Sorted::new(vec![7.0]);
        assert_eq!((one.quantile(0.0), one.quantile(0.99)), (7.0, 7.0));
        assert!(Sorted::default().median().is_nan());
        assert!(Sorted::default().mean().is_nan());
    }
}
