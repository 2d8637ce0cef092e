use std::ops::Range;

use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};

/// Around one pivot that both texts have, something of its left and something of its right have
/// changed places.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let pivots = || {
        pair.one
            .tokens()
            .filter(|(_, token)| token.has(Role::Pivot))
    };
    pivots().any(|(at, token)| {
        let text = pair.one.reading.text(token);
        let mut same = pair
            .two
            .tokens()
            .filter(|(_, other)| pair.two.reading.text(other) == text);
        let here = clause(&pair.one, at);
        same.any(|(with, _)| {
            let there = clause(&pair.two, with);
            let crosses = |mut from: Range<usize>, to: Range<usize>| {
                from.any(|at| {
                    pair.one.partner(at).is_some_and(|with| to.contains(&with))
                        && weighs(&pair.one, at)
                })
            };
            crosses(here.start..at, with + 1..there.end)
                && crosses(at + 1..here.end, there.start..with)
        })
    })
}

/// The clause around a token.
fn clause(side: &Side<'_, '_>, at: usize) -> Range<usize> {
    let tokens = &side.reading.tokens;
    let ends = |token: &crate::guard::reading::Token| token.parted || token.has(Role::Break);
    let before = tokens.iter().take(at + 1).rposition(ends);
    let after = tokens.iter().skip(at + 1).position(ends);
    before.unwrap_or(0)..after.map_or(tokens.len(), |after| at + 1 + after)
}

fn weighs(side: &Side<'_, '_>, at: usize) -> bool {
    let token = side.reading.tokens.get(at);
    token.is_some_and(|token| token.is_matter() || token.amount.is_some())
}
