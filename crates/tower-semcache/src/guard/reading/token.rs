//! The smallest piece of a text that the rules compare.

use crate::guard::lexicon::{Entry, Role};

/// A word, a term of several words, or an amount.
#[derive(Clone, Debug)]
pub(in crate::guard) struct Token {
    pub(super) first: usize,
    pub(super) count: usize,
    /// The length of its stem.
    pub(super) stem: usize,
    pub(in crate::guard) entry: Option<&'static Entry>,
    /// Which of the amounts it is.
    pub(in crate::guard) amount: Option<usize>,
    /// Written like a name, or with digits in it.
    pub(in crate::guard) name: bool,
    /// A clause begins here.
    pub(in crate::guard) parted: bool,
}

// === impl Token ===

impl Token {
    pub(in crate::guard) fn has(&self, role: Role) -> bool {
        self.entry.is_some_and(|entry| entry.has(role))
    }

    /// Whether a difference in it is one of substance.
    pub(in crate::guard) fn is_matter(&self) -> bool {
        let idle = [Role::Function, Role::Light, Role::Chatter, Role::Negation];
        let idle = idle.into_iter().any(|role| self.has(role));
        self.amount.is_none() && (self.name || !idle)
    }

    /// Its words.
    pub(in crate::guard) const fn words(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }

    /// Whether it is several words of a table.
    pub(in crate::guard) const fn is_phrase(&self) -> bool {
        self.count > 1
    }
}
