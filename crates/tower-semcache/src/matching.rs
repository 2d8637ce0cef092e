use std::fmt;

use crate::error::InvalidThreshold;

/// How close a stored request must be to the asked one.
///
/// The policy of the service chooses it. Nothing a caller sends can loosen it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Matching {
    /// Only a request that is equal, byte for byte, in its canonical form.
    #[default]
    Exact,
    /// An equal request, or else the most similar text of the same scope when it reaches this
    /// cosine and the guard accepts it.
    Threshold(Threshold),
    /// An equal request, or else a similar text of the same scope when the layer's
    /// [`Bounded`](crate::Bounded) lets it serve, so that the share of wrong answers among those
    /// served keeps to a bound. In a layer without one: as [`Exact`](Self::Exact).
    Bounded,
}

/// A cosine in (0, 1], as a number of millionths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Threshold(Similarity);

/// A cosine, rounded to six digits.
///
/// Rounding makes the comparison with a threshold the same on every machine, whatever order its
/// floating-point unit adds in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Similarity(i32);

const MILLION: f64 = 1e6;

// === impl Matching ===

impl Matching {
    /// Matching by similarity from `cosine` up.
    ///
    /// # Errors
    ///
    /// Unless `cosine` is a finite number in (0, 1] that does not round to zero millionths.
    pub fn threshold(cosine: f32) -> Result<Self, InvalidThreshold> {
        Threshold::new(cosine).map(Self::Threshold)
    }

    /// Whether this similarity is enough by itself.
    pub(crate) fn reaches(self, similarity: Similarity) -> bool {
        matches!(self, Self::Threshold(threshold) if similarity >= threshold.similarity())
    }
}

// === impl Threshold ===

impl Threshold {
    /// Checks a threshold.
    ///
    /// # Errors
    ///
    /// Unless `cosine` is a finite number in (0, 1] that does not round to zero millionths.
    pub fn new(cosine: f32) -> Result<Self, InvalidThreshold> {
        let similarity = Similarity::new(f64::from(cosine));
        match similarity {
            Some(similarity) if similarity.0 > 0 && cosine <= 1.0 => Ok(Self(similarity)),
            _ => Err(InvalidThreshold::new(cosine)),
        }
    }

    /// The threshold as a cosine.
    #[must_use]
    pub fn get(self) -> f32 {
        self.0.get()
    }

    pub(crate) fn similarity(self) -> Similarity {
        self.0
    }
}

impl fmt::Debug for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

// === impl Similarity ===

impl Similarity {
    /// Rounds a cosine; `None` when it is not a finite number.
    #[must_use]
    pub fn new(cosine: f64) -> Option<Self> {
        // The product is at most a few million: the conversion neither wraps nor truncates.
        cosine
            .is_finite()
            .then(|| Self((cosine.clamp(-1.0, 1.0) * MILLION).round() as i32))
    }

    /// The cosine, in [-1, 1].
    #[must_use]
    pub fn get(self) -> f32 {
        (f64::from(self.0) / MILLION) as f32
    }
}

impl fmt::Display for Similarity {
    /// Three digits, cut, not rounded: 0.9996 must not read as 1.000.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thousandths = self.0 / 1_000;
        let sign = if thousandths < 0 { "-" } else { "" };
        let size = thousandths.unsigned_abs();
        write!(f, "{sign}{}.{:03}", size / 1_000, size % 1_000)
    }
}

impl fmt::Debug for Similarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / MILLION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_that_means_nothing_is_refused() {
        for bad in [
            0.0,
            -0.5,
            1.000_001,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            1e-9,
        ] {
            let error = Threshold::new(bad).expect_err("refused");
            assert!(error.to_string().contains("threshold"), "{error}");
        }
        for good in [1e-6, 0.5, 0.96, 1.0] {
            assert!(Threshold::new(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn a_similarity_is_shown_with_three_digits_and_never_rounded_up() {
        let shown = |cosine| Similarity::new(cosine).expect("finite").to_string();
        assert_eq!(shown(0.934_567), "0.934");
        assert_eq!(shown(0.999_9), "0.999");
        assert_eq!(shown(1.0), "1.000");
        assert_eq!(shown(-0.25), "-0.250");
        assert_eq!(Similarity::new(f64::NAN), None);
    }
}
