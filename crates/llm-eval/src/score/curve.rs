//! Hits and wrong answers against the threshold.

use serde::Serialize;
use tower_semcache::Similarity;

use super::interval::Share;
use super::outcome::{Found, Outcome};

/// What a cache does with a list of cases at one threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Cases with a right answer in the cache.
    pub answerable: usize,
    /// Cases without.
    pub traps: usize,
    /// Right answers served.
    pub hits: usize,
    /// Wrong answers served to traps.
    pub wrong_to_traps: usize,
    /// Wrong answers served.
    pub wrong: usize,
}

/// A threshold and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The cosine from which an answer is served.
    pub threshold: f64,
    /// What that does.
    #[serde(flatten)]
    pub counts: Counts,
}

/// The thresholds of a curve: 0.50, 0.51 … 0.99.
#[must_use]
pub fn grid() -> impl DoubleEndedIterator<Item = f64> {
    (50..100).map(|hundredths| f64::from(hundredths) / 100.0)
}

/// What each threshold of the [`grid`] does.
#[must_use]
pub fn curve<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> Vec<Point> {
    let point = |threshold| Point {
        threshold,
        counts: Counts::at(threshold, outcomes.clone()),
    };
    grid().map(point).collect()
}

// === impl Counts ===

impl Counts {
    /// Counts what one threshold does.
    pub fn at<'a>(threshold: f64, outcomes: impl Iterator<Item = &'a Outcome>) -> Self {
        Self::with(|_| Some(threshold), outcomes)
    }

    /// Counts what a threshold for each family does; `None`: no semantic match there.
    pub fn with<'a>(
        threshold: impl Fn(&str) -> Option<f64>,
        outcomes: impl Iterator<Item = &'a Outcome>,
    ) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            counts.add(threshold(&outcome.family), outcome);
        }
        counts
    }

    fn add(&mut self, threshold: Option<f64>, outcome: &Outcome) {
        if outcome.answerable {
            self.answerable += 1;
        } else {
            self.traps += 1;
        }
        let least = threshold.and_then(Similarity::new);
        let served = |found: &Found| least.is_some_and(|least| found.similarity >= least);
        match outcome.found.filter(served) {
            None => {}
            Some(Found { right: true, .. }) => self.hits += 1,
            Some(Found { right: false, .. }) => {
                self.wrong += 1;
                self.wrong_to_traps += usize::from(!outcome.answerable);
            }
        }
    }

    /// Right answers served, of those that could be.
    #[must_use]
    pub const fn served_of_answerable(&self) -> Share {
        Share::new(self.hits, self.answerable)
    }

    /// Traps that were served an answer.
    #[must_use]
    pub const fn wrong_of_traps(&self) -> Share {
        Share::new(self.wrong_to_traps, self.traps)
    }

    /// Wrong answers among those served: what a user feels.
    #[must_use]
    pub const fn wrong_of_served(&self) -> Share {
        Share::new(self.wrong, self.hits + self.wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::Half;

    fn outcome(answerable: bool, found: Option<(f64, bool)>) -> Outcome {
        Outcome {
            family: "f".to_owned(),
            half: Half::Dev,
            answerable,
            found: found.map(|(cosine, right)| Found {
                similarity: Similarity::new(cosine).expect("finite"),
                right,
            }),
        }
    }

    #[test]
    fn an_answer_is_served_from_its_similarity_down() {
        let outcomes = [
            outcome(true, Some((0.9, true))),
            outcome(true, Some((0.95, false))),
            outcome(false, Some((0.89, false))),
            outcome(false, None),
        ];
        let at = |threshold| Counts::at(threshold, outcomes.iter());
        let counts = at(0.9);
        assert_eq!(
            (counts.hits, counts.wrong, counts.wrong_to_traps),
            (1, 1, 0)
        );
        assert_eq!((counts.answerable, counts.traps), (2, 2));
        assert_eq!(at(0.91).hits, 0);
        assert_eq!(at(0.89).wrong_of_served(), Share::new(2, 3));
        assert_eq!(curve(outcomes.iter()).len(), 50);
        let off = Counts::with(|_| None, outcomes.iter());
        assert_eq!((off.hits, off.wrong, off.answerable), (0, 0, 2));
    }
}
