//! Who has the last word.

use std::fmt;

use clap::ValueEnum;
use tower_semcache::Similarity;
use tower_semcache::guard::verifier::Verifier;
use tower_semcache::guard::{Conversations, Guard, Literal, Route, Verdict, last_message};

/// A guard, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Named {
    /// Accepts everything
    None,
    /// Numbers, quoted texts and negation must agree: the reference's guard
    Literal,
    /// All rules for English, those for conversations, and the route past the semantic tier
    English,
    /// The same, but a verifier instead of the strictest rule: it weighs what differs against the similarity
    Verified,
}

/// A named guard, ready.
#[derive(Debug)]
pub enum Guards {
    /// Accepts everything.
    None,
    /// The reference's guard; of a conversation it reads the last message.
    Literal,
    /// All rules for English.
    English(Conversations),
    /// The verifier; of conversations, for their last messages.
    Verified(Conversations<Verifier>),
}

// === impl Named ===

impl Named {
    /// The guard of this name.
    #[must_use]
    pub fn guards(self) -> Guards {
        match self {
            Self::None => Guards::None,
            Self::Literal => Guards::Literal,
            Self::English => Guards::English(Conversations::default()),
            Self::Verified => Guards::Verified(Conversations::new(Verifier::english())),
        }
    }

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Literal => "literal",
            Self::English => "english",
            Self::Verified => "verified",
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// === impl Guards ===

impl Guard for Guards {
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        match self {
            Self::None => Verdict::Accept,
            Self::Literal => Literal.accepts(last_message(asked), last_message(cached)),
            Self::English(guards) => {
                routed(asked, cached).unwrap_or_else(|| guards.accepts(asked, cached))
            }
            Self::Verified(guards) => {
                routed(asked, cached).unwrap_or_else(|| guards.accepts(asked, cached))
            }
        }
    }

    fn accepts_at(&self, asked: &str, cached: &str, similarity: Similarity) -> Verdict {
        match self {
            Self::None | Self::Literal => self.accepts(asked, cached),
            Self::English(guards) => routed(asked, cached)
                .unwrap_or_else(|| guards.accepts_at(asked, cached, similarity)),
            Self::Verified(guards) => routed(asked, cached)
                .unwrap_or_else(|| guards.accepts_at(asked, cached, similarity)),
        }
    }
}

/// What the gateway decides without reading both: equal texts are an exact hit, and what is to be fresh, private or done is
/// neither looked up by similarity nor offered for it.
fn routed(asked: &str, cached: &str) -> Option<Verdict> {
    if asked == cached {
        return Some(Verdict::Accept);
    }
    let mut both = [asked, cached].into_iter().map(last_message);
    both.any(|text| Route::of(text) != Route::Semantic)
        .then_some(Verdict::Reject("route"))
}
