use std::error::Error;
use std::fmt;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use tower_service::Service;

use super::Comparison;
use crate::bounded::Judgement;

/// Judges by the texts of the two answers, normalised: the same words in the same order.
///
/// It never takes a different answer for the same one, apart from case, punctuation and spacing. A
/// backend that says the same in other words looks like a wrong hit to it: use it where answers are
/// short, or drawn from a fixed set.
#[derive(Clone, Copy, Debug)]
pub struct Equal<F> {
    text: F,
}

/// An answer has no text that could be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoText {
    _private: (),
}

// === impl Equal ===

impl<F> Equal<F> {
    /// Compares what `text` finds in the answers. An answer without a text makes the comparison fail.
    pub const fn new<V>(text: F) -> Self
    where
        F: Fn(&V) -> Option<String>,
    {
        Self { text }
    }
}

impl<V, F> Service<Comparison<V>> for Equal<F>
where
    F: Fn(&V) -> Option<String>,
{
    type Response = Judgement;
    type Error = NoText;
    type Future = Ready<Result<Judgement, NoText>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoText>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, comparison: Comparison<V>) -> Self::Future {
        let texts = (self.text)(comparison.stored()).zip((self.text)(comparison.fresh()));
        ready(texts.ok_or(NoText::new()).map(|(stored, fresh)| {
            if normalise(&stored) == normalise(&fresh) {
                Judgement::Same
            } else {
                Judgement::Different
            }
        }))
    }
}

/// A text without what never changes its meaning: lower case, words apart by one space, and no
/// punctuation at the ends of a word.
///
/// Signs inside a word stay (`3.5`, `don't`, `a/b`), and so does a word that has nothing else
/// (`+`, `->`), and a sign before a digit (`-5`, `$5`).
///
/// ```
/// use tower_semcache::judge::normalise;
///
/// assert_eq!(normalise("  Yes, it IS -5 °C.\n"), "yes it is -5 °c");
/// ```
#[must_use]
pub fn normalise(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let trimmed = word.trim_end_matches(is_mark);
        let bare = trimmed.trim_start_matches(is_mark);
        let kept = if bare.is_empty() { word } else { bare };
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.extend(kept.chars().flat_map(char::to_lowercase));
    }
    normal
}

/// Whether a sign at the end of a word says nothing about the word.
const fn is_mark(sign: char) -> bool {
    matches!(
        sign,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '"'
            | '\''
            | '`'
            | '*'
            | '_'
            | '('
            | ')'
            | '['
            | ']'
            | '“'
            | '”'
            | '‘'
            | '’'
            | '…'
    )
}

// === impl NoText ===

impl NoText {
    pub(super) const fn new() -> Self {
        Self { _private: () }
    }
}

impl fmt::Display for NoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer without a text cannot be compared")
    }
}

impl Error for NoText {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_no_meaning_is_taken_out_and_nothing_else() {
        for (one, two) in [
            ("Paris.", "paris"),
            ("**Paris** is it!", "Paris  is\nit"),
            ("(yes)", "Yes"),
        ] {
            assert_eq!(normalise(one), normalise(two));
        }
        for (one, two) in [
            ("5", "-5"),
            ("$5", "5"),
            ("3.5", "35"),
            ("a b", "ab"),
            ("yes", "no"),
            ("x + y", "x y"),
        ] {
            assert_ne!(normalise(one), normalise(two));
        }
    }
}
