//! Rules composed.

use super::rule::{Rule, judge};
use super::{Guard, Verdict};

/// Rules that must all be kept. Both texts are read once.
///
/// A text is its own match, the order of two texts never matters, and no text makes it panic. Comparing
/// two texts of 15 words takes some fifteen microseconds (`cargo bench -p tower-semcache --features
/// guards --bench guards`); the tables are read once, at the first comparison.
///
/// ```
/// use tower_semcache::guard::{Guard, Guards, Rule, Verdict};
///
/// let guards = Guards::english();
/// let verdict = |one, two| guards.accepts(one, two);
/// assert_eq!(verdict("convert 5 km to miles", "how many miles is 5 km?"), Verdict::Accept);
/// assert_eq!(verdict("convert 5 km to miles", "convert 5 miles to km"), Verdict::Reject("amounts"));
/// assert_eq!(verdict("fly from Rome to Oslo", "fly from Oslo to Rome").rule(), Some("direction"));
/// let lenient = Guards::english().without(Rule::FRAME);
/// assert!(lenient.accepts("how do I bake a cake", "how do I bake a pie").is_accept());
/// ```
#[derive(Clone, Debug)]
pub struct Guards {
    rules: Vec<Rule>,
}

// === impl Guards ===

impl Guards {
    /// Every rule: for texts in English. Texts in other languages match when their words are equal.
    #[must_use]
    pub fn english() -> Self {
        Self {
            rules: Rule::ALL.to_vec(),
        }
    }

    /// No rule: accepts everything.
    #[must_use]
    pub const fn none() -> Self {
        Self { rules: Vec::new() }
    }

    /// Also asks `rule`, after the others.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Does not ask `rule`.
    #[must_use]
    pub fn without(mut self, rule: Rule) -> Self {
        self.rules.retain(|known| *known != rule);
        self
    }

    /// The rules, in the order in which they are asked.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

impl Default for Guards {
    fn default() -> Self {
        Self::english()
    }
}

impl Guard for Guards {
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        judge(asked, cached, |pair| {
            let broken = self.rules.iter().find(|rule| rule.is_broken(pair));
            broken.map_or(Verdict::Accept, |rule| Verdict::Reject(rule.name()))
        })
    }
}

#[cfg(test)]
mod tests;
