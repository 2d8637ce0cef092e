//! Training the verifier: its weights, and from which probability on it accepts.
//!
//! Weights are made from the dev half of the project's own set. What they are worth is measured on
//! topics that they have not seen: the dev half is cut into [`FOLDS`] by topic, and each fold is
//! judged by weights made from the others. The least probability is the lowest at which, judged
//! that way, the share of the traps accepted is below the limit with confidence: the upper end of its
//! Clopper-Pearson interval of 95 % is. The test half is only reported.

mod rows;

pub use self::rows::{Row, rows};

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use tower_semcache::guard::verifier::{Features, NAMES, Sample, Verifier, Weights};
use tower_semcache::guard::{Guard, Guards, Route};

use crate::score::clopper_pearson;
use crate::set::Half;

/// Into how many parts the dev half is cut.
pub const FOLDS: usize = 10;

/// The strength of the ridge.
const RIDGE: f64 = 1.0;

/// What came of training.
#[derive(Clone, Debug, Serialize)]
pub struct Trained {
    /// By name.
    pub weights: BTreeMap<&'static str, f32>,
    /// Accepts from this probability on.
    pub least: Option<f32>,
    /// The share of the traps it was found for.
    pub limit: f64,
    /// How many pairs of the dev half no rule forbids.
    pub samples: usize,
    /// The rules alone, the strictest included, on each half.
    pub rules: BTreeMap<String, Tally>,
    /// Dev, each topic judged by weights that have not seen it.
    pub cross_validated: Vec<Point>,
    /// Test, by the final weights.
    pub test: Vec<Point>,
    /// The same at the least probability, by kind.
    pub categories: BTreeMap<String, BTreeMap<String, Tally>>,
    /// A kind of trap left out: how many of it are accepted at the least probability.
    pub unseen_kinds: BTreeMap<String, Tally>,
    #[serde(skip)]
    made: Weights,
}

/// How many pairs are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Pairs with one answer.
    pub same: usize,
    /// Of these, accepted.
    pub served: usize,
    /// Pairs with two answers.
    pub traps: usize,
    /// Of these, accepted.
    pub wrong: usize,
}

/// What a least probability would do.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    /// The probability.
    pub least: f32,
    /// What is accepted then.
    #[serde(flatten)]
    pub tally: Tally,
}

/// A pair, as far as the rules see it.
struct Judged<'r> {
    row: &'r Row,
    fold: usize,
    /// `None` where a rule forbids it, or where a text goes past the semantic tier.
    features: Option<Features>,
    /// Whether every word of substance has a partner.
    framed: bool,
}

// === impl Trained ===

impl Trained {
    /// Trains, to accept less than the share `limit` of traps.
    #[must_use]
    pub fn new(rows: &[Row], limit: f64) -> Self {
        let pairs = judged(rows);
        let of = |half| move |pair: &&Judged<'_>| pair.row.half == half;
        let dev: Vec<_> = pairs.iter().filter(of(Half::Dev)).collect();
        let test: Vec<_> = pairs.iter().filter(of(Half::Test)).collect();

        let mut held_out = vec![None; dev.len()];
        for fold in 0..FOLDS {
            let weights = fit(dev.iter().filter(|pair| pair.fold != fold));
            let places = dev.iter().zip(&mut held_out);
            for (pair, place) in places.filter(|(pair, _)| pair.fold == fold) {
                *place = pair.probability(&weights);
            }
        }
        let made = fit(dev.iter());
        let tested: Vec<_> = test.iter().map(|pair| pair.probability(&made)).collect();
        let cross_validated = curve(&dev, &held_out);
        let least = cross_validated
            .iter()
            .find(|point| point.tally.most_wrong() <= limit)
            .map(|point| point.least);
        let at = least.unwrap_or(1.0);
        let kinds = |pairs: &[&Judged<'_>], found: &[Option<f32>]| {
            let mut kinds: BTreeMap<String, Tally> = BTreeMap::new();
            for (pair, found) in pairs.iter().zip(found) {
                let kind = kinds.entry(pair.row.category.clone()).or_default();
                kind.count(pair, *found, at);
            }
            kinds
        };
        let mut unseen_kinds = BTreeMap::new();
        for (kind, _) in kinds(&dev, &held_out)
            .into_iter()
            .filter(|(_, tally)| tally.traps > 0)
        {
            let weights = fit(dev.iter().filter(|pair| pair.row.category != kind));
            let mut tally = Tally::default();
            for pair in dev.iter().filter(|pair| pair.row.category == kind) {
                tally.count(pair, pair.probability(&weights), at);
            }
            unseen_kinds.insert(kind, tally);
        }
        let rules = [Half::Dev, Half::Test].map(|half| {
            let mut tally = Tally::default();
            for pair in pairs.iter().filter(of(half)) {
                let accepted = Guards::english().accepts(&pair.row.asked, &pair.row.cached);
                let accepted = accepted.is_accept() && pair.features.is_some();
                tally.add(pair.row.same_answer, accepted);
            }
            (half.to_string(), tally)
        });
        Self {
            weights: NAMES.into_iter().zip(*made.as_array()).collect(),
            least,
            limit,
            samples: dev.iter().filter(|pair| pair.features.is_some()).count(),
            rules: rules.into(),
            test: curve(&test, &tested),
            categories: [
                ("dev, cross-validated".to_owned(), kinds(&dev, &held_out)),
                ("test".to_owned(), kinds(&test, &tested)),
            ]
            .into(),
            unseen_kinds,
            cross_validated,
            made,
        }
    }

    /// The file of weights.
    #[must_use]
    pub fn file(&self) -> String {
        let least = self.least.unwrap_or(1.0);
        format!(
            "# Weights of the verifier: logistic regression, ridge {RIDGE}, {} pairs of the dev half that no\n\
             # rule forbids. Made by `cargo xtask cache-eval --train`; what they are worth is in\n\
             # results/verifier_training.json.\n{least:.2} least\n{}",
            self.samples, self.made
        )
    }
}

/// The probabilities looked at.
fn grid() -> impl Iterator<Item = f32> {
    (50..100_u8).map(|percent| f32::from(percent) / 100.0)
}

fn judged(rows: &[Row]) -> Vec<Judged<'_>> {
    let verifier = Verifier::english();
    let rules = Guards::english();
    let mut folds = HashMap::new();
    rows.iter()
        .map(|row| {
            let next = folds.len() % FOLDS;
            let fold = *folds.entry(row.topic.as_str()).or_insert(next);
            let (asked, cached) = (row.asked.as_str(), row.cached.as_str());
            let routed = [asked, cached].map(Route::of) != [Route::Semantic; 2];
            let open = !routed
                && verifier
                    .probability(asked, cached, row.similarity)
                    .is_some();
            Judged {
                row,
                fold,
                features: open.then(|| Features::read(asked, cached, row.similarity)),
                framed: rules.accepts(asked, cached).is_accept(),
            }
        })
        .collect()
}

fn fit<'p, 'r: 'p>(pairs: impl Iterator<Item = &'p &'p Judged<'r>>) -> Weights {
    let samples: Vec<Sample> = pairs
        .filter_map(|pair| {
            Some(Sample {
                features: pair.features?,
                same_answer: pair.row.same_answer,
            })
        })
        .collect();
    Weights::fit(&samples, RIDGE)
}

fn curve(pairs: &[&Judged<'_>], found: &[Option<f32>]) -> Vec<Point> {
    let point = |least| {
        let mut tally = Tally::default();
        for (pair, found) in pairs.iter().zip(found) {
            tally.count(pair, *found, least);
        }
        Point { least, tally }
    };
    grid().map(point).collect()
}

// === impl Judged ===

impl Judged<'_> {
    fn probability(&self, weights: &Weights) -> Option<f32> {
        self.features.map(|features| weights.probability(&features))
    }
}

// === impl Tally ===

impl Tally {
    /// The upper end of the interval of the share of the traps accepted.
    fn most_wrong(&self) -> f64 {
        clopper_pearson(self.wrong, self.traps).1
    }

    fn count(&mut self, pair: &Judged<'_>, found: Option<f32>, least: f32) {
        let accepted = found.is_some_and(|found| Verifier::accepts_from(found, pair.framed, least));
        self.add(pair.row.same_answer, accepted);
    }

    fn add(&mut self, same_answer: bool, accepted: bool) {
        let accepted = usize::from(accepted);
        if same_answer {
            self.same += 1;
            self.served += accepted;
        } else {
            self.traps += 1;
            self.wrong += accepted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_in_use_are_those_that_training_gives() {
        let trained = Trained::new(&rows().expect("pairs"), 0.02);
        for (name, weight) in NAMES.iter().zip(Weights::english().as_array()) {
            let made = trained.weights.get(name).copied().unwrap_or(f32::NAN);
            assert!(
                (made - weight).abs() < 2e-3,
                "{name}: {made}, {weight} in use"
            );
        }
        let least = trained.least.expect("some probability");
        assert!(
            (least - Verifier::english().least()).abs() < 1e-3,
            "{least}"
        );
    }

    #[test]
    fn a_topic_is_judged_by_weights_that_have_not_seen_it() {
        let rows = rows().expect("pairs");
        let mut folds: HashMap<&str, usize> = HashMap::new();
        for pair in judged(&rows) {
            let fold = *folds.entry(pair.row.topic.as_str()).or_insert(pair.fold);
            assert_eq!(fold, pair.fold, "{}", pair.row.topic);
        }
        assert!(folds.len() > 10 * FOLDS);
    }
}
