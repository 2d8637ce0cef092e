//! Shares, and how far they can be trusted.

use std::fmt;

use serde::{Serialize, Serializer};

/// So many of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    part: usize,
    of: usize,
}

#[derive(Serialize)]
struct Written {
    part: usize,
    of: usize,
    share: Option<f64>,
    low: f64,
    high: f64,
}

/// The Clopper-Pearson interval of confidence 95 % of a share: the shares that are not refuted by seeing `part` of `of`, at
/// 2.5 % on each side. It is exact: it never covers less than 95 %, and more where numbers are small.
///
/// Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial" (1934).
#[must_use]
pub fn clopper_pearson(part: usize, of: usize) -> (f64, f64) {
    const SIDE: f64 = 0.025;
    if of == 0 {
        return (0.0, 1.0);
    }
    // P(X ≤ part) falls as the share grows, from one to zero.
    let low = match part.checked_sub(1) {
        None => 0.0,
        Some(less) => bisect(|share| at_most(less, of, share) > 1.0 - SIDE),
    };
    let high = if part >= of {
        1.0
    } else {
        bisect(|share| at_most(part, of, share) > SIDE)
    };
    (low, high)
}

/// The share up to which `below` holds.
fn bisect(below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// P(X ≤ part) for X binomial over `of` trials, summed from the logarithms of its terms.
fn at_most(part: usize, of: usize, share: f64) -> f64 {
    let (of, success, failure) = (of as f64, share.ln(), (-share).ln_1p());
    let mut term = of * failure;
    let mut sum = term.exp();
    for k in 1..=part {
        let k = k as f64;
        term += ((of - k + 1.0) / k).ln() + success - failure;
        sum += term.exp();
    }
    sum
}

// === impl Share ===

impl Share {
    /// `part` of `of`.
    #[must_use]
    pub const fn new(part: usize, of: usize) -> Self {
        Self { part, of }
    }

    /// The share; `None` of nothing.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.part as f64 / self.of as f64)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, of } = *self;
        let Some(share) = self.value() else {
            return f.pad("-");
        };
        let (low, high) = clopper_pearson(part, of);
        f.pad(&format!(
            "{:.1} % ({part}/{of}; {:.1}–{:.1})",
            100.0 * share,
            100.0 * low,
            100.0 * high
        ))
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { part, of } = *self;
        let (low, high) = clopper_pearson(part, of);
        let digits = |share: f64| (share * 1e4).round() / 1e4;
        let written = Written {
            part,
            of,
            share: self.value().map(digits),
            low: digits(low),
            high: digits(high),
        };
        written.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // R: binom.test(part, of)$conf.int
        for (part, of, low, high) in [
            (0, 100, 0.0, 0.036_216_7),
            (3, 10, 0.066_739_5, 0.652_452_9),
            (10, 10, 0.691_502_9, 1.0),
            (50, 1_000, 0.037_331_9, 0.065_386_7),
        ] {
            let found = clopper_pearson(part, of);
            assert!((found.0 - low).abs() < 1e-4, "{part}/{of}: {found:?}");
            assert!((found.1 - high).abs() < 1e-4, "{part}/{of}: {found:?}");
        }
        assert_eq!(clopper_pearson(0, 0), (0.0, 1.0));
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_share(of in 1_usize..5_000, part in 0.0_f64..=1.0) {
            let part = (part * of as f64) as usize;
            let (low, high) = clopper_pearson(part, of);
            let share = part as f64 / of as f64;
            prop_assert!(low <= share + 1e-9 && share <= high + 1e-9);
        }
    }
}
