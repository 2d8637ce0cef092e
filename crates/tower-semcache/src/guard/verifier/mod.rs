//! A small verifier: weighs what two texts have in common against their similarity.
//!
//! The rules of [`Guards`] end in one that is strict: [`Rule::FRAME`]
//! refuses every pair in which a word of substance of one text has no partner in the other. That
//! refuses most rewordings. A [`Verifier`] keeps all the other rules and decides what is left by a
//! logistic regression over [`Features`]: how much is unmatched, whether it stands in a
//! frame that is otherwise the same (then it differs on purpose), and the cosine of the vectors.
//!
//! ```
//! use tower_semcache::guard::Guard;
//! use tower_semcache::guard::verifier::Verifier;
//!
//! # fn main() -> Result<(), tower_semcache::error::InvalidSetting> {
//! let verifier = Verifier::english().at_least(0.5)?;
//! let (asked, cached) = ("how do I switch on dark mode", "how can I enable dark mode");
//! assert!(verifier.accepts(asked, cached).is_accept());
//! // A rule is broken: no similarity helps.
//! assert_eq!(verifier.probability(asked, "how do I disable dark mode", 0.99), None);
//! # Ok(())
//! # }
//! ```
//!
//! Its weights are for the cosines of all-MiniLM-L6-v2; with another embedder train them anew
//! ([`Weights::fit`]).

mod features;
mod fit;
mod weights;

#[cfg(test)]
mod tests;

pub use features::{FEATURES, Features, NAMES};
pub use fit::Sample;
pub use weights::Weights;

use super::rule::{Rule, compare, judge};
use super::{Guard, Guards, Verdict};
use crate::error::InvalidSetting;
use crate::matching::Similarity;

/// Rules, and a probability where a rewording breaks only the last of them.
#[derive(Clone, Debug)]
pub struct Verifier {
    rules: Guards,
    weights: Weights,
    least: f32,
}

/// The rule by which it rejects what no other rule does.
const RULE: &str = "verifier";

/// The least probability of a pair in which every word of substance has its partner: likelier the same
/// than not.
const FRAMED: f32 = 0.5;

// === impl Verifier ===

impl Verifier {
    /// For texts in English and the vectors of all-MiniLM-L6-v2; accepts from the
    /// probability that it was trained with.
    #[must_use]
    pub fn english() -> Self {
        Self::new(Guards::english(), Weights::english())
    }

    /// `rules` without [`Rule::FRAME`], and other weights.
    #[must_use]
    pub fn new(rules: Guards, weights: Weights) -> Self {
        Self {
            rules: rules.without(Rule::FRAME),
            weights,
            least: Weights::least(),
        }
    }

    /// The probability from which on it accepts a rewording.
    #[must_use]
    pub const fn least(&self) -> f32 {
        self.least
    }

    /// Whether a pair of this probability is accepted: a rewording from `least` up, and one in which
    /// every word of substance has its partner (`framed`) from one half up.
    #[must_use]
    pub fn accepts_from(probability: f32, framed: bool, least: f32) -> bool {
        probability >= if framed { least.min(FRAMED) } else { least }
    }

    /// Accepts a rewording from this probability up.
    ///
    /// # Errors
    ///
    /// Unless `probability` is a number in [0, 1].
    pub fn at_least(mut self, probability: f32) -> Result<Self, InvalidSetting> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(InvalidSetting::new("a probability is a number from 0 to 1"));
        }
        self.least = probability;
        Ok(self)
    }

    /// How likely two texts whose vectors have this cosine have the same answer; `None` when a rule
    /// forbids it.
    #[must_use]
    pub fn probability(&self, asked: &str, cached: &str, similarity: f32) -> Option<f32> {
        if asked == cached {
            return Some(1.0);
        }
        compare(asked, cached, |pair| {
            let forbidden = self.rules.rules().iter().any(|rule| rule.is_broken(pair));
            (!forbidden).then(|| self.weights.probability(&Features::of(pair, similarity)))
        })
    }
}

impl Guard for Verifier {
    /// Without a similarity all rules count, the strict one as well.
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        judge(asked, cached, |pair| {
            let mut rules = self.rules.rules().iter().chain([&Rule::FRAME]);
            let broken = rules.find(|rule| rule.is_broken(pair));
            broken.map_or(Verdict::Accept, |rule| Verdict::Reject(rule.name()))
        })
    }

    fn accepts_at(&self, asked: &str, cached: &str, similarity: Similarity) -> Verdict {
        judge(asked, cached, |pair| {
            let mut rules = self.rules.rules().iter();
            if let Some(rule) = rules.find(|rule| rule.is_broken(pair)) {
                return Verdict::Reject(rule.name());
            }
            let features = Features::of(pair, similarity.get());
            let probability = self.weights.probability(&features);
            let framed = !Rule::FRAME.is_broken(pair);
            let sure = Self::accepts_from(probability, framed, self.least);
            Verdict::accept_unless(!sure, RULE)
        })
    }
}
