use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::{Guard, Verdict};

/// The reference guard: numbers, quoted texts and negation must agree.
///
/// * the numbers of a text (`12`, `3.5`), sorted, as written;
/// * the set of its quoted texts, in single or double quotes that stand at a word boundary, so that
///   the apostrophe of "don't" opens nothing;
/// * whether one of *not, no, never, without, don't, doesn't, isn't, aren't, cannot* occurs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Literal;

const NEGATIONS: [&str; 9] = [
    "not", "no", "never", "without", "don't", "doesn't", "isn't", "aren't", "cannot",
];

static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d+(?:\.\d+)?"));
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[a-z]+(?:['’][a-z]+)?"));

// === impl Literal ===

impl Guard for Literal {
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        Verdict::accept_if(
            numbers(asked) == numbers(cached)
                && quoted(asked) == quoted(cached)
                && negated(asked) == negated(cached),
        )
    }
}

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that a test compiles")
}

fn numbers(text: &str) -> Vec<&str> {
    let mut numbers: Vec<_> = NUMBER.find_iter(text).map(|found| found.as_str()).collect();
    numbers.sort_unstable();
    numbers
}

fn negated(text: &str) -> bool {
    let text = text.to_lowercase();
    WORD.find_iter(&text).any(|word| {
        let word = word.as_str();
        NEGATIONS.iter().any(|negation| {
            word == *negation || (word.contains('’') && word.replace('’', "'") == *negation)
        })
    })
}

pub(super) fn quoted(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut rest = text;
    let mut before = None;
    // Where no quote of a kind closes from here on, none closes further on either: remembering it
    // keeps the time linear.
    let (mut single, mut double) = (true, true);
    while let Some(at) = rest.find(['\'', '"']) {
        let (head, tail) = rest.split_at(at);
        before = head.chars().next_back().or(before);
        let mut chars = tail.chars();
        let quote = chars.next().unwrap_or('"');
        let body = chars.as_str();
        let closes = if quote == '"' {
            &mut double
        } else {
            &mut single
        };
        // A quote after a letter is an apostrophe, or closes something that was never opened.
        let closing = if *closes && !before.is_some_and(is_word) {
            let closing = closing(body, quote);
            *closes = closing.is_some();
            closing
        } else {
            None
        };
        match closing.and_then(|end| Some((body.get(..end)?, body.get(end + 1..)?))) {
            Some((inside, after)) => {
                if !inside.is_empty() {
                    found.insert(inside);
                }
                rest = after;
            }
            None => rest = body,
        }
        before = Some(quote);
    }
    found
}

/// Where the text that `quote` opened ends: at the next one that no letter follows.
fn closing(body: &str, quote: char) -> Option<usize> {
    body.match_indices(quote).map(|(at, _)| at).find(|at| {
        let next = body.get(at + 1..).and_then(|after| after.chars().next());
        !next.is_some_and(is_word)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(one: &str, two: &str) -> bool {
        Literal.accepts(one, two) == Verdict::Accept
    }

    #[test]
    fn numbers_must_agree_in_any_order() {
        assert!(accepts("from 3.5 to 12", "12 down to 3.5"));
        assert!(!accepts("convert 5 km", "convert 6 km"));
        assert!(!accepts("2 and 2", "2"));
    }

    #[test]
    fn quoted_texts_must_agree_and_apostrophes_quote_nothing() {
        assert_eq!(
            quoted("say 'good morning' or \"hi\""),
            BTreeSet::from(["good morning", "hi"])
        );
        assert_eq!(quoted("it's Bob's, isn't it"), BTreeSet::new());
        assert_eq!(
            quoted("'it's fine', '' and 'é'"),
            BTreeSet::from(["it's fine", "é"])
        );
        assert!(!accepts("translate 'bread'", "translate 'water'"));
    }

    #[test]
    fn negation_must_agree() {
        assert!(!accepts("is it safe", "is it not safe"));
        assert!(!accepts("do it", "Don’t do it"));
        assert!(accepts("cannot open", "never open"));
        assert!(accepts("a notable knot", "a noble note"));
    }

    #[test]
    fn many_quotes_that_never_close_take_linear_time() {
        let text = " 'a \"b".repeat(200_000);
        assert_eq!(quoted(&text), BTreeSet::new());
    }

    proptest! {
        #[test]
        fn the_guard_is_symmetric_and_accepts_a_text_for_itself(
            one in "[a-c0-2 .'\"’é]{0,24}",
            two in "[a-c0-2 .'\"’é]{0,24}",
        ) {
            prop_assert_eq!(accepts(&one, &two), accepts(&two, &one));
            prop_assert!(accepts(&one, &one));
        }
    }
}
