//! The rules, each a guard of its own.

mod amounts;
mod bindings;
mod case;
mod contrasts;
mod decisive;
mod direction;
mod exchange;
pub(super) mod focus;
mod frame;
mod language;
mod names;
mod negation;
mod order;
mod quotes;
mod relation;
mod scope;
mod whose;

use std::fmt;

use super::pair::Pair;
use super::reading::Reading;
use super::{Guard, Verdict};

/// One concept in which two texts must agree, as a guard.
///
/// [`Guards`](super::Guards) reads both texts once for all of its rules; a rule used by itself reads
/// them for itself.
#[derive(Clone, Copy)]
pub struct Rule {
    name: &'static str,
    broken: fn(&Pair<'_, '_>) -> bool,
}

// === impl Rule ===

impl Rule {
    /// Texts in a language that the tables do not cover, and texts of more than 512 words, must have
    /// the same words. Everything else takes English for granted.
    pub const LANGUAGE: Self = Self::new("language", language::broken);
    /// What stands in quotes or between backticks must stand in both, in the same spelling.
    pub const QUOTES: Self = Self::new("quotes", quotes::broken);
    /// Amounts must agree, with their units: 5 km is 5 kilometres is 5.0 km is 5000 m, not 5 miles.
    /// Also percentages, currencies, ages, times of the day, versions, dates.
    pub const AMOUNTS: Self = Self::new("amounts", amounts::broken);
    /// Bare numbers must count the same things: "2 adults and 3 children".
    pub const BINDINGS: Self = Self::new("bindings", bindings::broken);
    /// Texts that differ in capitals alone must differ where capitals mean nothing: `-d` is not `-D`, mA not MA.
    pub const CASE: Self = Self::new("case", case::broken);
    /// Alternatives must agree: open and closed, Monday and Tuesday, Paris and Rome.
    pub const CONTRASTS: Self = Self::new("contrasts", contrasts::broken);
    /// Both texts are negated or none is, and no word is turned round by a prefix.
    pub const NEGATION: Self = Self::new("negation", negation::broken);
    /// What is "from" in one must not be "to" in the other.
    pub const DIRECTION: Self = Self::new("direction", direction::broken);
    /// What stands around a word that relates two things must not change places: "better than". Nor may
    /// two things change places where nothing else changes, whatever stands between them.
    pub const ORDER: Self = Self::new("order", order::broken);
    /// What is done with something is not done before it, nor after it.
    pub const RELATION: Self = Self::new("relation", relation::broken);
    /// Names, and words with digits or capitals in them, must stand in both.
    pub const NAMES: Self = Self::new("names", names::broken);
    /// All, only, first, last, except, at least: must stand in both.
    pub const SCOPE: Self = Self::new("scope", scope::broken);
    /// Whose it is and for whom one asks must agree: mine, yours, somebody else's, a child's.
    pub const WHOSE: Self = Self::new("whose", whose::broken);
    /// When, where, who, why, how many: both must ask for the same.
    pub const FOCUS: Self = Self::new("focus", focus::broken);
    /// Words that always make a difference must stand in both: cancelled, extended, abroad, pregnant.
    pub const DECISIVE: Self = Self::new("decisive", decisive::broken);
    /// Two texts that differ in one word of substance differ on purpose, unless the word is a synonym.
    pub const FRAME: Self = Self::new("frame", frame::broken);

    /// All rules, the cheapest and most telling first.
    pub const ALL: [Self; 16] = [
        Self::LANGUAGE,
        Self::QUOTES,
        Self::CASE,
        Self::AMOUNTS,
        Self::NEGATION,
        Self::CONTRASTS,
        Self::NAMES,
        Self::WHOSE,
        Self::SCOPE,
        Self::FOCUS,
        Self::DIRECTION,
        Self::ORDER,
        Self::RELATION,
        Self::BINDINGS,
        Self::DECISIVE,
        Self::FRAME,
    ];

    const fn new(name: &'static str, broken: fn(&Pair<'_, '_>) -> bool) -> Self {
        Self { name, broken }
    }

    /// Its name, as in [`Verdict::Reject`].
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn is_broken(&self, pair: &Pair<'_, '_>) -> bool {
        (self.broken)(pair)
    }
}

impl Guard for Rule {
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        judge(asked, cached, |pair| {
            Verdict::accept_unless(self.is_broken(pair), self.name)
        })
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rule").field(&self.name).finish()
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Rule {}

/// Judges two texts; equal ones are accepted unread.
pub(super) fn judge(
    asked: &str,
    cached: &str,
    judge: impl FnOnce(&Pair<'_, '_>) -> Verdict,
) -> Verdict {
    if asked == cached {
        Verdict::Accept
    } else {
        compare(asked, cached, judge)
    }
}

/// Reads both texts. They are put in order first: whatever is found is symmetric.
pub(super) fn compare<T>(asked: &str, cached: &str, look: impl FnOnce(&Pair<'_, '_>) -> T) -> T {
    let one = Reading::new(asked.min(cached));
    let two = Reading::new(asked.max(cached));
    look(&Pair::new(&one, &two))
}
