//! What a verifier weighs.

use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};
use crate::guard::reading::Reading;

/// How many numbers describe a pair of texts.
pub const FEATURES: usize = 13;

/// A pair of texts in numbers; the same whichever text comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features([f32; FEATURES]);

/// Their names, in order, for reports.
pub const NAMES: [&str; FEATURES] = [
    "one",
    "similarity",
    "unmatched in the poorer text",
    "unmatched in the richer text",
    "share matched of the poorer text",
    "share matched of the richer text",
    "frame shared",
    "unmatched, in a shared frame",
    "replaced in its place",
    "unmatched that no table knows",
    "matched",
    "similarity where something was replaced",
    "unmatched of a set of alternatives",
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
        let counts = [Count::of(&pair.one), Count::of(&pair.two)];
        let [a, b] = counts;
        let least = |of: fn(Count) -> f32| of(a).min(of(b));
        let most = |of: fn(Count) -> f32| of(a).max(of(b));
        let frame = frame(pair);
        let replaced = replaced(pair);
        let unmatched = a.unmatched + b.unmatched;
        Self([
            1.0,
            similarity,
            least(|count| count.unmatched).min(4.0),
            most(|count| count.unmatched).min(6.0),
            least(Count::share),
            most(Count::share),
            frame,
            frame * unmatched.min(4.0),
            replaced.min(3.0),
            (a.unknown + b.unknown).min(4.0),
            most(|count| count.matched).min(6.0),
            similarity * replaced.min(1.0),
            (a.sided + b.sided).min(3.0),
        ])
    }

    /// The numbers, in the order of [`NAMES`].
    #[must_use]
    pub const fn as_array(&self) -> &[f32; FEATURES] {
        &self.0
    }
}

#[derive(Clone, Copy)]
struct Count {
    matched: f32,
    unmatched: f32,
    /// Unmatched words that stand in no table: often names of things.
    unknown: f32,
    /// Unmatched words that have an opposite or alternatives.
    sided: f32,
}

impl Count {
    fn of(side: &Side<'_, '_>) -> Self {
        let mut count = Self {
            matched: 0.0,
            unmatched: 0.0,
            unknown: 0.0,
            sided: 0.0,
        };
        for (at, token) in side.reading.matter() {
            if side.partner(at).is_some() {
                count.matched += 1.0;
            } else {
                count.unmatched += 1.0;
                let sides = token.entry.map(|entry| !entry.sides.is_empty());
                count.unknown += f32::from(u8::from(sides.is_none()));
                count.sided += f32::from(u8::from(sides == Some(true)));
            }
        }
        count
    }

    fn share(self) -> f32 {
        self.matched / (self.matched + self.unmatched).max(1.0)
    }
}

/// The share of words of grammar that the texts have in common: where it is large, one was made from
/// the other, and what differs differs on purpose.
fn frame(pair: &Pair<'_, '_>) -> f32 {
    let (mut all, mut shared) = (0.0, 0.0);
    for (side, _) in pair.sides() {
        for (at, token) in side.tokens() {
            if !token.is_matter() && token.amount.is_none() && !token.has(Role::Chatter) {
                all += 1.0;
                shared += f32::from(u8::from(side.partner(at).is_some()));
            }
        }
    }
    if all == 0.0 { 0.0 } else { shared / all }
}

/// How many unmatched tokens stand between the partners of the same two neighbours, or at the same end.
fn replaced(pair: &Pair<'_, '_>) -> f32 {
    let ends = |side: &Side<'_, '_>, at: usize| {
        let before = (0..at).rev().find(|at| side.partner(*at).is_some());
        let after = (at + 1..side.reading.tokens.len()).find(|at| side.partner(*at).is_some());
        (before, after)
    };
    let places = pair.one.unmatched().filter(|(at, _)| {
        let (before, after) = ends(&pair.one, *at);
        let meant = |at: Option<usize>| at.and_then(|at| pair.one.partner(at));
        let mut others = pair.two.unmatched();
        others.any(|(with, _)| ends(&pair.two, with) == (meant(before), meant(after)))
    });
    places.count() as f32
}
