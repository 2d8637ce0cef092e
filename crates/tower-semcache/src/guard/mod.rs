//! The last word on a similar text, before its answer is served.

#[cfg(feature = "guards")]
mod amount;
#[cfg(feature = "guards")]
mod conversation;
#[cfg(feature = "guards")]
mod guards;
#[cfg(feature = "guards")]
mod hash;
#[cfg(feature = "guards")]
mod lexicon;
#[cfg(feature = "guards")]
mod literal;
#[cfg(feature = "guards")]
mod pair;
#[cfg(feature = "guards")]
mod reading;
#[cfg(feature = "guards")]
mod route;
#[cfg(feature = "guards")]
mod rule;
#[cfg(feature = "guards")]
mod stem;
#[cfg(feature = "guards")]
mod table;
#[cfg(feature = "guards")]
mod typo;
#[cfg(feature = "guards")]
pub mod verifier;
#[cfg(feature = "guards")]
mod words;

#[cfg(feature = "guards")]
pub use conversation::{Conversations, Speaker, Turn, last_message, stands_alone};
#[cfg(feature = "guards")]
pub use guards::Guards;
#[cfg(feature = "guards")]
pub use literal::Literal;
#[cfg(feature = "guards")]
pub use route::{Reason, Route};
#[cfg(feature = "guards")]
pub use rule::Rule;

use crate::matching::Similarity;

/// Says whether the answer to one text may serve another that is similar to it.
///
/// Embeddings see that two texts are about the same thing; they hardly see that "5 km" became
/// "6 km". A guard reads the texts themselves. It must be pure, cheap (microseconds: it runs on the
/// request's path, once a candidate) and symmetric: `accepts(a, b) == accepts(b, a)`.
///
/// In one search it is asked about the most similar candidates, one after the other, until it
/// accepts one; after 1,024 the request goes on as a miss.
///
/// Every closure `Fn(&str, &str) -> Verdict` is a guard.
pub trait Guard {
    /// Compares the text that is asked with one whose answer is stored.
    fn accepts(&self, asked: &str, cached: &str) -> Verdict;

    /// Compares two texts whose vectors have this cosine: what the cache calls.
    ///
    /// A guard that weighs what it reads against the similarity overrides it; all others do not
    /// care.
    fn accepts_at(&self, asked: &str, cached: &str, similarity: Similarity) -> Verdict {
        let _ = similarity;
        self.accepts(asked, cached)
    }
}

/// What a [`Guard`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The stored answer may be served.
    Accept,
    /// It may not, because of the named rule; the next best candidate is looked at.
    Reject(&'static str),
}

/// The guard that trusts the embedder: accepts everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AcceptAll;

// === impl Guard ===

impl<F> Guard for F
where
    F: Fn(&str, &str) -> Verdict,
{
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        self(asked, cached)
    }
}

impl Guard for AcceptAll {
    fn accepts(&self, _: &str, _: &str) -> Verdict {
        Verdict::Accept
    }
}

// === impl Verdict ===

impl Verdict {
    /// [`Verdict::Accept`] when `fine`, else a rejection by a rule called `guard`.
    #[must_use]
    pub const fn accept_if(fine: bool) -> Self {
        Self::accept_unless(!fine, "guard")
    }

    /// A rejection by `rule` when it is `broken`.
    ///
    /// The name is for metrics and explanations: a short word, the same in every call.
    #[must_use]
    pub const fn accept_unless(broken: bool, rule: &'static str) -> Self {
        if broken {
            Self::Reject(rule)
        } else {
            Self::Accept
        }
    }

    /// Whether the stored answer may be served.
    #[must_use]
    pub const fn is_accept(self) -> bool {
        matches!(self, Self::Accept)
    }

    /// The rule that rejected.
    #[must_use]
    pub const fn rule(self) -> Option<&'static str> {
        match self {
            Self::Accept => None,
            Self::Reject(rule) => Some(rule),
        }
    }
}
