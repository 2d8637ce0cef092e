//! Finding thresholds.

use std::collections::BTreeMap;

use serde::Serialize;

use super::curve::{Counts, grid};
use super::outcome::Outcome;

/// A threshold for all, and those of families that have their own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Thresholds {
    /// For every family without its own; `None`: only equal requests match.
    pub general: Option<f64>,
    /// For families with enough cases of both kinds.
    pub families: BTreeMap<String, Option<f64>>,
}

/// Cases of each kind that a family needs for a threshold of its own.
const ENOUGH: usize = 5;

/// How much may go wrong where a threshold is found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// This share of the traps may be served an answer. It does not depend on how many traps a set has.
    WrongOfTraps(f64),
    /// This share of what is served may be wrong. It is for sets that are mixed as the traffic is.
    WrongOfServed(f64),
}

/// The lowest threshold of the grid at which something right is served and no more goes wrong than may; `None` where there
/// is none.
#[must_use]
pub fn lowest<'a>(
    limit: Limit,
    outcomes: impl Iterator<Item = &'a Outcome> + Clone,
) -> Option<f64> {
    grid().find(|threshold| {
        let counts = Counts::at(*threshold, outcomes.clone());
        counts.hits > 0 && limit.keeps(counts)
    })
}

// === impl Limit ===

impl Limit {
    fn keeps(self, counts: Counts) -> bool {
        let (share, most) = match self {
            Self::WrongOfTraps(most) => (counts.wrong_of_traps(), most),
            Self::WrongOfServed(most) => (counts.wrong_of_served(), most),
        };
        share.value().unwrap_or(0.0) <= most
    }
}

// === impl Thresholds ===

impl Thresholds {
    /// Finds them.
    #[must_use]
    pub fn learn<'a>(limit: Limit, outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> Self {
        let mut families: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
        for outcome in outcomes.clone() {
            let family = outcome.family.clone();
            families.entry(family).or_default().push(outcome);
        }
        families.retain(|_, outcomes| {
            let answerable = outcomes.iter().filter(|outcome| outcome.answerable).count();
            answerable >= ENOUGH && outcomes.len() - answerable >= ENOUGH
        });
        Self {
            general: lowest(limit, outcomes),
            families: families
                .into_iter()
                .map(|(family, outcomes)| (family, lowest(limit, outcomes.iter().copied())))
                .collect(),
        }
    }

    /// The threshold of a family.
    #[must_use]
    pub fn of(&self, family: &str) -> Option<f64> {
        self.families.get(family).copied().unwrap_or(self.general)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Found;
    use crate::set::Half;
    use tower_semcache::Similarity;

    const NOTHING: Limit = Limit::WrongOfServed(0.0);

    fn outcome(family: &str, similarity: i32, right: bool) -> Outcome {
        Outcome {
            family: family.to_owned(),
            half: Half::Dev,
            answerable: right,
            found: Some(Found {
                similarity: Similarity::new(f64::from(similarity) / 100.0).expect("finite"),
                right,
            }),
        }
    }

    #[test]
    fn the_threshold_is_the_lowest_above_every_wrong_answer() {
        let outcomes = [
            outcome("f", 95, true),
            outcome("f", 80, true),
            outcome("f", 75, false),
            outcome("f", 60, true),
        ];
        assert_eq!(lowest(NOTHING, outcomes.iter()), Some(0.76));
        let third = Limit::WrongOfServed(0.34);
        assert_eq!(lowest(third, outcomes.iter()), Some(0.5));
        assert_eq!(lowest(third, outcomes[1..3].iter()), Some(0.76));
        assert_eq!(
            lowest(Limit::WrongOfTraps(0.5), outcomes.iter()),
            Some(0.76)
        );
        assert_eq!(lowest(Limit::WrongOfTraps(1.0), outcomes.iter()), Some(0.5));
        assert_eq!(lowest(NOTHING, outcomes[2..3].iter()), None);
    }

    #[test]
    fn a_family_has_its_own_threshold_when_it_has_enough_of_both_kinds() {
        let of = |family, trap| {
            let traps = (0..5).map(move |n| outcome(family, trap - n, false));
            traps.chain((0..5).map(move |n| outcome(family, 90 + n, true)))
        };
        let few = [outcome("few", 70, false), outcome("few", 85, true)];
        let outcomes: Vec<_> = of("easy", 60).chain(of("hard", 92)).chain(few).collect();
        let thresholds = Thresholds::learn(NOTHING, outcomes.iter());
        assert_eq!(thresholds.of("easy"), Some(0.61));
        assert_eq!(thresholds.of("hard"), Some(0.93));
        assert_eq!(thresholds.of("few"), Some(0.93));
        assert_eq!(thresholds.families.len(), 2);
    }
}
