//! Which texts may have a semantic match at all.

mod pattern;
mod patterns;
#[cfg(test)]
mod tests;

use self::pattern::Place;
use self::patterns::{Kinds, Meaning, Patterns};
use super::lexicon::{Lexicon, Role};
use super::words::{Opens, Words};

/// Where a text goes.
///
/// "What is the weather today", "where is my order" and "cancel my order" have no answer that may serve
/// a similar text, however similar it is: their answer depends on the moment, on who asks, or is a
/// deed. That is not a matter of matching two texts, but of one: keep it out of the semantic tier,
/// neither looked up there nor offered for it. The exact tier and its life times are not concerned.
///
/// How something is done, what the rules are and what a word means is answered alike at all times and
/// for all who ask: "how do I cancel my order", "do I have to pay for my next order" and "what does
/// 'latest departure' mean" stay, although they name an order and a moment. "How do I get home
/// tonight" does not. To write or to count something is no deed in this sense: it is an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Nothing speaks against a semantic match.
    Semantic,
    /// Only an equal request may share its answer, for this reason.
    Exact(Reason),
}

/// Why a text may have no semantic match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The answer depends on when one asks.
    Fresh,
    /// The answer depends on who asks.
    Private,
    /// Something is to be done.
    Action,
}

// === impl Route ===

impl Route {
    /// Reads a text.
    ///
    /// ```
    /// use tower_semcache::guard::{Reason, Route};
    ///
    /// assert_eq!(Route::of("How do I cancel an order?"), Route::Semantic);
    /// assert_eq!(Route::of("Please cancel my order"), Route::Exact(Reason::Action));
    /// assert_eq!(Route::of("what's my balance"), Route::Exact(Reason::Private));
    /// assert_eq!(Route::of("latest news on the strike"), Route::Exact(Reason::Fresh));
    /// ```
    #[must_use]
    pub fn of(text: &str) -> Self {
        let read = Words::new(text);
        let words: Vec<&str> = read.texts().collect();
        let mut signs = Vec::new();
        // What questions overrule: in their sentence, and in the whole text.
        let (mut hidden, mut excused) = (Kinds::default(), Kinds::default());
        let (mut begins, mut place) = (courtesy(&words), Place::Text);
        let mut at = 0;
        while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
            let opens = read.words.get(at).map(|word| word.opens);
            if at > begins && opens == Some(Opens::Sentence) {
                hidden = Kinds::default();
                (begins, place) = (at + courtesy(rest), Place::Sentence);
            }
            let here = if at == begins { place } else { Place::Within };
            let mut step = 1;
            for (taken, meaning) in Patterns::get().at(rest, here) {
                match meaning {
                    Meaning::Stable => {
                        step = taken;
                        break;
                    }
                    Meaning::Frame { here, anywhere } => {
                        hidden = hidden.and(here).and(anywhere);
                        excused = excused.and(anywhere);
                    }
                    Meaning::Sign { kind, .. } if hidden.has(kind) => {}
                    Meaning::Sign { reason, kind } => signs.push((reason, kind)),
                }
            }
            at += step;
        }
        let mut signs = signs.into_iter();
        let sign = signs.find(|(_, kind)| !excused.has(*kind));
        sign.map_or(Self::Semantic, |(reason, _)| Self::Exact(reason))
    }

    /// Why the text may have no semantic match.
    #[must_use]
    pub const fn reason(self) -> Option<Reason> {
        match self {
            Self::Semantic => None,
            Self::Exact(reason) => Some(reason),
        }
    }
}

// === impl Reason ===

impl Reason {
    /// A short word for metrics: `fresh`, `private`, `action`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Private => "private",
            Self::Action => "action",
        }
    }
}

/// How many words of courtesy a sentence begins with.
fn courtesy(words: &[&str]) -> usize {
    let lexicon = Lexicon::get();
    let mut at = 0;
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        let phrase = lexicon.phrase(rest.iter().copied());
        let phrase = phrase.filter(|(_, entry)| entry.has(Role::Chatter));
        let word = rest.first().and_then(|word| lexicon.word(word));
        at += match (phrase, word) {
            (Some((count, _)), _) => count,
            (None, Some(entry)) if entry.has(Role::Chatter) => 1,
            _ => break,
        };
    }
    at
}
