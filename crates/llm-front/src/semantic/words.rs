//! Who has the last word on a similar text.

use crate::config::types::{GuardRules, History};
use tower_semcache::Similarity;
use tower_semcache::guard::verifier::Verifier;
use tower_semcache::guard::{AcceptAll, Conversations, Guard, Guards, Literal, Verdict};

/// The guard that was asked for.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    English(Guards),
    Verified(Verifier),
    Literal(Literal),
    Off(AcceptAll),
    /// One of the others on last messages, and rules for what was said before.
    Conversation(Box<Conversations<Words>>),
}

impl Words {
    pub(super) fn new(rules: GuardRules, history: History) -> Self {
        let words = match rules {
            GuardRules::English => Self::English(Guards::english()),
            GuardRules::Verified => Self::Verified(Verifier::english()),
            GuardRules::Literal => Self::Literal(Literal),
            GuardRules::Off => Self::Off(AcceptAll),
        };
        match history {
            History::Equal => words,
            History::Guarded => Self::Conversation(Box::new(Conversations::new(words))),
        }
    }
}

impl Guard for Words {
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        match self {
            Self::English(guard) => guard.accepts(asked, cached),
            Self::Verified(guard) => guard.accepts(asked, cached),
            Self::Literal(guard) => guard.accepts(asked, cached),
            Self::Off(guard) => guard.accepts(asked, cached),
            Self::Conversation(guard) => guard.accepts(asked, cached),
        }
    }

    fn accepts_at(&self, asked: &str, cached: &str, similarity: Similarity) -> Verdict {
        match self {
            Self::English(guard) => guard.accepts_at(asked, cached, similarity),
            Self::Verified(guard) => guard.accepts_at(asked, cached, similarity),
            Self::Literal(guard) => guard.accepts_at(asked, cached, similarity),
            Self::Off(guard) => guard.accepts_at(asked, cached, similarity),
            Self::Conversation(guard) => guard.accepts_at(asked, cached, similarity),
        }
    }
}
