use super::exchange;
use crate::guard::lexicon::{Entry, Role};
use crate::guard::pair::{Pair, Side};
use crate::guard::reading::Token;

pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    turned(pair) || exchange::broken(pair)
}

/// Around one pivot that both texts have, something of its left and something of its right have
/// changed places.
fn turned(pair: &Pair<'_, '_>) -> bool {
    let mut pivots = pair
        .one
        .tokens()
        .filter_map(|(at, token)| Some((at, pivot(&pair.one, token)?)));
    pivots.any(|(at, text)| {
        let here = Around::new(&pair.one, at);
        let mut same = pair.two.tokens().filter(|(with, other)| {
            pair.one.partner(at) == Some(*with) || pivot(&pair.two, other) == Some(text)
        });
        same.any(|(with, _)| {
            let there = Around::new(&pair.two, with);
            let crosses = |from: &[usize], to: &[usize]| {
                let mut partners = from.iter().filter_map(|at| pair.one.partner(*at));
                partners.any(|with| to.contains(&with))
            };
            let (forth, back) = (
                crosses(&here.left, &there.right),
                crosses(&here.right, &there.left),
            );
            // "can my partner adopt my child" and "can I adopt my partner's child".
            forth && (back || there.asker) || back && here.asker
        })
    })
}

/// The word that relates two things: the token, or the end of it ("more than").
fn pivot<'r>(side: &Side<'r, '_>, token: &Token) -> Option<&'r str> {
    let last = side.reading.last_word(token);
    let relates = |entry: &Entry| entry.has(Role::Pivot);
    let (text, entry) = last?;
    (token.has(Role::Pivot) || (token.is_phrase() && entry.is_some_and(relates))).then_some(text)
}

/// What stands around a pivot, who does something on the left.
struct Around {
    left: Vec<usize>,
    right: Vec<usize>,
    /// The one who asks does it.
    asker: bool,
}

/// How far tokens count to the left of a pivot ("is gas heating cheaper than …") and to its right, where
/// a name ends it ("package A").
const LEFT: usize = 4;
const RIGHT: usize = 2;

impl Around {
    /// The nearest tokens of substance on both sides of a pivot, in its clause.
    fn new(side: &Side<'_, '_>, at: usize) -> Self {
        let tokens = &side.reading.tokens;
        let has = |at: usize, role| tokens.get(at).is_some_and(|token| token.has(role));
        let within = has(at, Role::Within);
        let weighs = |at: &usize| {
            tokens.get(*at).is_some_and(|token| {
                let amount = token.amount.is_some() && !within;
                token.is_matter() || amount
            })
        };
        let parts = |at: &usize| tokens.get(*at).is_some_and(|token| token.parted);
        // A comma stands before the token that it parts from the one on its left.
        let start = (0..=at).rev().find(parts).unwrap_or(0);
        let before = (start..at).rev().take_while(|at| !has(*at, Role::Break));
        let after = (at + 1..tokens.len()).take_while(|at| !has(*at, Role::Break) && !parts(at));
        let mut right = Vec::with_capacity(RIGHT);
        for at in after
            .skip_while(|at| !weighs(at))
            .take_while(weighs)
            .take(RIGHT)
        {
            right.push(at);
            if tokens
                .get(at)
                .is_some_and(|token| token.name || token.amount.is_some())
            {
                break;
            }
        }
        let verb = weighs(&at);
        let asker = verb && at > 0 && has(at - 1, Role::Mine);
        let left: Vec<usize> = before.filter(weighs).take(LEFT).collect();
        // "beaten by": who does it stands on the right.
        let passive = verb
            && tokens
                .get(at + 1)
                .is_some_and(|token| side.reading.text(token) == BY)
            // "divided by 12" is none.
            && tokens.get(at + 2).is_none_or(|token| token.amount.is_none());
        let (left, right) = if passive {
            (right, left)
        } else {
            (left, right)
        };
        Self { left, right, asker }
    }
}

const BY: &str = "by";
