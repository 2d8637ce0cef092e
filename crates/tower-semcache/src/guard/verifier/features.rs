//! What a verifier weighs.

use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};
use crate::guard::reading::Reading;
use crate::guard::rule::focus::Focus;

/// How many numbers describe a pair of texts.
pub const FEATURES: usize = 32;

/// A pair of texts in numbers; the same whichever text comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features([f32; FEATURES]);

/// Their names, in order, for reports.
pub const NAMES: [&str; FEATURES] = [
    "one",
    "similarity",
    "similarity above 0.8",
    "similarity below 0.65",
    "unmatched in the poorer text",
    "unmatched in the richer text",
    "both have unmatched",
    "one has one unmatched",
    "share matched of the poorer text",
    "share matched of the richer text",
    "matched",
    "anchors matched",
    "frame shared",
    "unmatched, in a shared frame",
    "replaced in its place",
    "similarity where something was replaced",
    "unmatched that no table knows",
    "unmatched that only the vocabulary knows",
    "unmatched of a set of alternatives",
    "unmatched of one beginning",
    "unmatched at the end",
    "out of order",
    "grammar unmatched",
    "opens alike",
    "similarity where both have unmatched",
    "unmatched, short texts",
    "names of what to make, unmatched in the poorer text",
    "names of what to make, unmatched in the richer text",
    "one asks for what the other has no word for",
    "both ask for the same",
    "one speaks of a use or an origin",
    "one names the kind of its answer",
];

// === impl Features ===

impl Features {
    /// Reads two texts whose vectors have this cosine.
    #[must_use]
    pub fn read(asked: &str, cached: &str, similarity: f32) -> Self {
        let (one, two) = (
            Reading::new(asked.min(cached)),
            Reading::new(asked.max(cached)),
        );
        Self::of(&Pair::new(&one, &two), similarity)
    }

    pub(in crate::guard) fn of(pair: &Pair<'_, '_>, similarity: f32) -> Self {
        let [a, b] = [Count::of(&pair.one), Count::of(&pair.two)];
        let least = |of: fn(Count) -> f32| of(a).min(of(b));
        let most = |of: fn(Count) -> f32| of(a).max(of(b));
        let both = |of: fn(Count) -> f32| of(a) + of(b);
        let (one, two) = (Focus::of(&pair.one), Focus::of(&pair.two));
        let frame = frame(pair);
        let replaced = replaced(pair);
        let unmatched = both(|count| count.unmatched);
        let poorer = least(|count| count.unmatched);
        let yes = |fact: bool| f32::from(u8::from(fact));
        Self([
            1.0,
            similarity,
            (similarity - 0.8).max(0.0),
            (0.65 - similarity).max(0.0),
            poorer.min(3.0),
            most(|count| count.unmatched).min(5.0),
            yes(poorer > 0.0),
            yes(unmatched == 1.0),
            least(Count::share),
            most(Count::share),
            most(|count| count.matched).min(6.0),
            most(|count| count.anchors).min(3.0),
            frame.shared,
            frame.shared * unmatched.min(4.0),
            replaced.min(3.0),
            similarity * replaced.min(1.0),
            both(|count| count.unknown).min(4.0),
            both(|count| count.plain).min(4.0),
            both(|count| count.sided).min(3.0),
            alike(pair).min(3.0),
            yes(a.last) + yes(b.last),
            disorder(pair),
            frame.unmatched.min(8.0),
            yes(opens_alike(pair)),
            similarity * yes(poorer > 0.0),
            unmatched.min(4.0) / (most(|count| count.matched + count.unmatched)).max(1.0),
            least(|count| count.carriers).min(2.0),
            most(|count| count.carriers).min(2.0),
            yes(one.alone(two) || two.alone(one)),
            yes(one.agrees(two)),
            yes(one.aside() != two.aside()),
            yes(one.names(two) || two.names(one)),
        ])
    }

    /// The numbers, in the order of [`NAMES`].
    #[must_use]
    pub const fn as_array(&self) -> &[f32; FEATURES] {
        &self.0
    }
}

/// What one text has of substance.
#[derive(Clone, Copy, Default)]
struct Count {
    matched: f32,
    /// Matched names, and amounts.
    anchors: f32,
    unmatched: f32,
    /// Unmatched words that stand in no table: often names of things.
    unknown: f32,
    /// Unmatched words of which no table says more than that they are English.
    plain: f32,
    /// Unmatched words that have an opposite or alternatives.
    sided: f32,
    /// Unmatched words that name what is to be made: code, a translation.
    carriers: f32,
    /// Whether its last word of substance is unmatched.
    last: bool,
}

impl Count {
    fn of(side: &Side<'_, '_>) -> Self {
        let mut count = Self::default();
        for (at, token) in side.tokens() {
            let matched = side.partner(at).is_some();
            if token.amount.is_some() || (token.name && matched) {
                count.anchors += 1.0;
            }
            if !token.is_matter() {
                continue;
            }
            if !matched && token.has(Role::Carrier) {
                count.carriers += 1.0;
                continue;
            }
            count.last = !matched;
            if matched {
                count.matched += 1.0;
                continue;
            }
            count.unmatched += 1.0;
            match token.entry {
                None => count.unknown += 1.0,
                Some(entry) if !entry.sides.is_empty() => count.sided += 1.0,
                Some(entry) if entry.concepts.is_empty() => count.plain += 1.0,
                Some(_) => {}
            }
        }
        count
    }

    fn share(self) -> f32 {
        self.matched / (self.matched + self.unmatched).max(1.0)
    }
}

/// Words of grammar: where most are shared, one text was made from the other, and what differs differs
/// on purpose.
struct Frame {
    /// The share that the texts have in common.
    shared: f32,
    unmatched: f32,
}

fn frame(pair: &Pair<'_, '_>) -> Frame {
    let (mut all, mut shared) = (0.0, 0.0);
    for (side, _) in pair.sides() {
        for (at, token) in side.tokens() {
            if !token.is_matter() && token.amount.is_none() && !token.has(Role::Chatter) {
                all += 1.0;
                shared += f32::from(u8::from(side.partner(at).is_some()));
            }
        }
    }
    Frame {
        shared: if all == 0.0 { 0.0 } else { shared / all },
        unmatched: all - shared,
    }
}

/// How many unmatched tokens stand between the partners of the same two neighbours, or at the same end.
fn replaced(pair: &Pair<'_, '_>) -> f32 {
    let ends = |side: &Side<'_, '_>, at: usize| {
        let before = (0..at).rev().find(|at| side.partner(*at).is_some());
        let after = (at + 1..side.reading.tokens.len()).find(|at| side.partner(*at).is_some());
        (before, after)
    };
    let others: Vec<_> = pair
        .two
        .unmatched()
        .map(|(with, _)| ends(&pair.two, with))
        .collect();
    let places = pair.one.unmatched().filter(|(at, _)| {
        let (before, after) = ends(&pair.one, *at);
        let meant = |at: Option<usize>| at.and_then(|at| pair.one.partner(at));
        others.contains(&(meant(before), meant(after)))
    });
    places.count() as f32
}

/// Letters that words of one family begin with: "inform" and "information".
const BEGINNING: usize = 4;

/// How many unmatched words begin as one of the other text does.
fn alike(pair: &Pair<'_, '_>) -> f32 {
    let begins = |one: &str, two: &str| {
        let same = one
            .bytes()
            .zip(two.bytes())
            .take_while(|(one, two)| one == two);
        let same = same.count();
        same >= BEGINNING && same * 2 >= one.len().max(two.len())
    };
    let alike = pair.one.unmatched().filter(|(_, token)| {
        let text = pair.one.reading.text(token);
        let mut others = pair.two.unmatched();
        others.any(|(_, other)| begins(text, pair.two.reading.text(other)))
    });
    alike.count() as f32
}

/// The share of neighbours among the matched things that stand the other way round in the other text.
fn disorder(pair: &Pair<'_, '_>) -> f32 {
    let (mut turned, mut all) = (0.0, 0.0);
    let mut last = None;
    for (at, token) in pair.one.tokens() {
        let thing = token.is_matter() || token.amount.is_some();
        if let Some(with) = pair.one.partner(at).filter(|_| thing) {
            if let Some(last) = last {
                all += 1.0;
                turned += f32::from(u8::from(with < last));
            }
            last = Some(with);
        }
    }
    if all == 0.0 { 0.0 } else { turned / all }
}

/// Whether both texts begin with the same word, courtesies aside.
fn opens_alike(pair: &Pair<'_, '_>) -> bool {
    let first = |side: &Side<'_, '_>| {
        let mut tokens = side.tokens();
        tokens.find_map(|(at, token)| (!token.has(Role::Chatter)).then_some(at))
    };
    let both = first(&pair.one).zip(first(&pair.two));
    both.is_some_and(|(at, with)| pair.one.partner(at) == Some(with))
}
