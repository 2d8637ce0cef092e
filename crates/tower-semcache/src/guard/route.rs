//! Which texts may have a semantic match at all.

use std::sync::LazyLock;

use super::hash::Table;
use super::lexicon::{Lexicon, Role};
use super::table;
use super::words::Words;

/// Where a text goes.
///
/// "What is the weather today", "where is my order" and "cancel my order" have no answer that may serve
/// a similar text, however similar it is: their answer depends on the moment, on who asks, or is a
/// deed. That is not a matter of matching two texts, but of one: keep it out of the semantic tier,
/// neither looked up there nor offered for it. The exact tier and its life times are not concerned.
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

/// The patterns of `route.txt`, by their first word.
struct Patterns {
    by_word: Table<&'static str, Vec<Pattern>>,
}

struct Pattern {
    /// `None` hides its words from the others.
    reason: Option<Reason>,
    initial: bool,
    rest: Vec<Part>,
}

enum Part {
    /// One of these words.
    Word(Vec<&'static str>),
    Number,
    /// None to two words.
    Gap,
}

/// How many words a gap may hold.
const GAP: usize = 2;

static PATTERNS: LazyLock<Patterns> = LazyLock::new(Patterns::load);

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
        let words = Words::new(text);
        let words: Vec<&str> = words.texts().collect();
        let start = courtesy(&words);
        let mut at = 0;
        let mut found = None;
        while at < words.len() {
            let (reason, taken) = PATTERNS.at(&words, at, at == start);
            found = found.or(reason);
            at += taken;
        }
        found.map_or(Self::Semantic, Self::Exact)
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

/// How many words of courtesy a text begins with.
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

// === impl Patterns ===

impl Patterns {
    fn load() -> Self {
        let mut by_word: Table<_, Vec<Pattern>> = Table::default();
        for (section, line) in table::sections(include_str!("data/route.txt")) {
            let reason = match section {
                "fresh" => Some(Reason::Fresh),
                "private" => Some(Reason::Private),
                "action" => Some(Reason::Action),
                _ => None,
            };
            let initial = line.starts_with('^');
            let mut parts = line.trim_start_matches('^').split_whitespace();
            for first in parts.next().unwrap_or_default().split('/') {
                let pattern = Pattern {
                    reason,
                    initial,
                    rest: parts.clone().map(Part::new).collect(),
                };
                by_word.entry(first).or_default().push(pattern);
            }
        }
        Self { by_word }
    }

    /// The reason found at a word, and how many words that settles.
    fn at(&self, words: &[&str], at: usize, start: bool) -> (Option<Reason>, usize) {
        let known = words.get(at).and_then(|word| self.by_word.get(word));
        let rest = words.get(at + 1..).unwrap_or_default();
        let mut found = None;
        for pattern in known.into_iter().flatten() {
            let fits = !pattern.initial || start;
            match matched(&pattern.rest, rest).filter(|_| fits) {
                Some(taken) if pattern.reason.is_none() => return (None, taken + 1),
                Some(_) => found = found.or(pattern.reason),
                None => {}
            }
        }
        (found, 1)
    }
}

/// How many of the words the parts take, if they fit.
fn matched(parts: &[Part], words: &[&str]) -> Option<usize> {
    let Some((part, parts)) = parts.split_first() else {
        return Some(0);
    };
    let one = |fits: fn(&Part, &str) -> bool| {
        let (word, rest) = words.split_first()?;
        fits(part, word)
            .then(|| matched(parts, rest))?
            .map(|taken| taken + 1)
    };
    match part {
        Part::Gap => (0..=GAP.min(words.len())).find_map(|gap| {
            let taken = matched(parts, words.get(gap..)?)?;
            Some(gap + taken)
        }),
        _ => one(Part::fits),
    }
}

// === impl Part ===

impl Part {
    fn new(part: &'static str) -> Self {
        match part {
            "*" => Self::Gap,
            "#" => Self::Number,
            words => Self::Word(words.split('/').collect()),
        }
    }

    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Word(words) => words.contains(&word),
            Self::Number => word.starts_with(|c: char| c.is_ascii_digit() || "$£€¥".contains(c)),
            Self::Gap => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> Option<&'static str> {
        Route::of(text).reason().map(Reason::as_str)
    }

    #[test]
    fn what_depends_on_the_moment_is_fresh() {
        for text in [
            "what's the weather in Oslo",
            "Who won the match yesterday?",
            "latest iPhone price",
            "is github down",
            "what time is it in Tokyo",
        ] {
            assert_eq!(reason(text), Some("fresh"), "{text}");
        }
    }

    #[test]
    fn what_depends_on_who_asks_is_private() {
        for text in [
            "Where is my parcel?",
            "how much do I owe",
            "Has my payment gone through?",
            "status of order 8812",
        ] {
            assert_eq!(reason(text), Some("private"), "{text}");
        }
    }

    #[test]
    fn what_asks_for_a_deed_is_an_action() {
        for text in [
            "cancel my subscription",
            "Hi, could you please book me a table for two",
            "Transfer £50 to savings",
            "remind me to call Ann",
            "turn off the lights",
        ] {
            assert_eq!(reason(text), Some("action"), "{text}");
        }
    }

    #[test]
    fn questions_of_general_interest_stay() {
        for text in [
            "How do I cancel my subscription?",
            "How do I open a current account?",
            "What is the capital of Peru?",
            "Write a function that sorts a list",
            "Do animals that live in deserts drink?",
            "",
        ] {
            assert_eq!(Route::of(text), Route::Semantic, "{text}");
        }
    }
}
