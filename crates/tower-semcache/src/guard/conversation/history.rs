//! Whether two conversations have said the same so far.

use std::collections::HashMap;

use super::{Speaker, Turn};
use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};
use crate::guard::reading::{Reading, Token};
use crate::guard::rule::Rule;
use crate::guard::words::Words;

pub(super) fn equal(one: &[Turn<'_>], two: &[Turn<'_>]) -> bool {
    one.len() == two.len()
        && one.iter().zip(two).all(|(one, two)| {
            one.speaker == two.speaker
                && (one.text == two.text
                    || Words::new(one.text)
                        .texts()
                        .eq(Words::new(two.text).texts()))
        })
}

/// Whether one history says all that the other says, and then only digresses.
pub(super) fn agree(one: &[Turn<'_>], two: &[Turn<'_>]) -> bool {
    let (one, two) = (whole(one), whole(two));
    let (one, two) = (one.as_str().min(&two), one.as_str().max(&two));
    let (one, two) = (Reading::new(one), Reading::new(two));
    let pair = Pair::new(&one, &two);
    let rules = [Rule::LANGUAGE, Rule::NEGATION, Rule::CONTRASTS, Rule::WHOSE];
    if rules.iter().any(|rule| rule.is_broken(&pair)) || !in_order(&pair) {
        return false;
    }
    let [ours, theirs] = pair.sides();
    same_amounts(ours, theirs)
        && match (news(ours.0).is_empty(), news(theirs.0).is_empty()) {
            (true, true) => true,
            (true, false) => digresses(theirs.0),
            (false, true) => digresses(ours.0),
            (false, false) => false,
        }
}

/// Each amount of one history is in the other, however often.
fn same_amounts(one: (&Side<'_, '_>, &Side<'_, '_>), two: (&Side<'_, '_>, &Side<'_, '_>)) -> bool {
    [one, two].into_iter().all(|(side, other)| {
        let mut amounts = side.reading.amounts.iter().filter(|amount| !amount.soft);
        amounts.all(|amount| {
            other
                .reading
                .amounts
                .iter()
                .any(|other| amount.equals(other))
        })
    })
}

/// Tokens of substance of which the other history says nothing at all, not even once.
fn news(side: &Side<'_, '_>) -> Vec<usize> {
    let reading = side.reading;
    let known = |token: &Token| {
        let mut matched = side.tokens().filter(|(at, _)| side.partner(*at).is_some());
        matched.any(|(_, other)| reading.text(other) == reading.text(token))
    };
    let unmatched = side.unmatched().filter(|(_, token)| !known(token));
    unmatched.map(|(at, _)| at).collect()
}

/// Whether all that is new stands in sentences of its own, names nothing, and is less than half.
fn digresses(side: &Side<'_, '_>) -> bool {
    let reading = side.reading;
    let news = news(side);
    let named = news
        .iter()
        .any(|at| reading.tokens.get(*at).is_some_and(|token| token.name));
    let mut sentence = (false, false);
    let mut apart = true;
    for (at, token) in side.tokens() {
        if reading.opens(token) {
            sentence = (false, false);
        }
        let fact = side.partner(at).is_some() && (token.is_matter() || token.amount.is_some());
        sentence = (sentence.0 || fact, sentence.1 || news.contains(&at));
        apart &= sentence != (true, true);
    }
    apart && !named && news.len() * 2 <= reading.matter().count()
}

/// Everything that the user said, as one text: what the model said follows from it.
fn whole(turns: &[Turn<'_>]) -> String {
    let said = turns.iter().filter(|turn| turn.speaker == Speaker::User);
    let said: Vec<&str> = said.map(|turn| turn.text).collect();
    said.join("\n")
}

/// Facts of one kind keep their order: where two orders are spoken of, the first is the caller's.
fn in_order(pair: &Pair<'_, '_>) -> bool {
    let mut last: HashMap<Kind, usize> = HashMap::new();
    let mut facts = pair.one.tokens().filter_map(|(at, token)| {
        Some((Kind::of(pair.one.reading, token)?, pair.one.partner(at)?))
    });
    facts.all(|(kind, partner)| last.insert(kind, partner).is_none_or(|last| last < partner))
}

/// What may be taken for one another.
#[derive(PartialEq, Eq, Hash)]
enum Kind {
    Amount(Option<u16>),
    OneOf(u16),
    Name,
}

impl Kind {
    fn of(reading: &Reading<'_>, token: &Token) -> Option<Self> {
        if let Some(amount) = token.amount.and_then(|at| reading.amounts.get(at)) {
            return Some(Self::Amount(amount.unit.map(|unit| unit.dimension)));
        }
        let set = token.entry.and_then(|entry| entry.sides.first());
        let set = set.filter(|_| !token.has(Role::Function));
        set.map(|(set, _)| Self::OneOf(*set))
            .or(token.name.then_some(Self::Name))
    }
}
