//! Two texts side by side: which token of one is which of the other.

use super::lexicon::{Lexicon, Role};
use super::reading::{Reading, Token, same_stem};
use super::typo::is_typo;

/// Two readings and their alignment.
#[derive(Debug)]
pub(super) struct Pair<'r, 't> {
    pub(super) one: Side<'r, 't>,
    pub(super) two: Side<'r, 't>,
}

/// A reading, and the partner of each of its tokens in the other.
#[derive(Debug)]
pub(super) struct Side<'r, 't> {
    pub(super) reading: &'r Reading<'t>,
    partners: Vec<Option<usize>>,
}

/// More tokens than this are not aligned: the work grows with the product.
pub(super) const MAX_TOKENS: usize = 512;

/// How two tokens may be the same, the surest first.
type Same = fn(&Reading<'_>, &Token, &Reading<'_>, &Token) -> bool;
const PASSES: [Same; 6] = [
    same_written,
    same_text,
    same_amount_or_stem,
    same_matter,
    same_concept,
    mistyped,
];

/// The shortest run of words that an acronym stands for.
const ACRONYM: std::ops::RangeInclusive<usize> = 2..=6;

// === impl Pair ===

impl<'r, 't> Pair<'r, 't> {
    pub(super) fn new(one: &'r Reading<'t>, two: &'r Reading<'t>) -> Self {
        let mut pair = Self {
            one: Side::new(one),
            two: Side::new(two),
        };
        if one.words.texts().eq(two.words.texts()) && one.tokens.len() == two.tokens.len() {
            (0..one.tokens.len()).for_each(|at| pair.join(at, at));
        } else if one.tokens.len() <= MAX_TOKENS && two.tokens.len() <= MAX_TOKENS {
            pair.align();
        }
        pair
    }

    /// Both ways round, for rules that look from one side.
    pub(super) fn sides(&self) -> [(&Side<'r, 't>, &Side<'r, 't>); 2] {
        [(&self.one, &self.two), (&self.two, &self.one)]
    }

    fn align(&mut self) {
        let (one, two) = (self.one.reading, self.two.reading);
        for same in PASSES {
            for (at, token) in one.tokens.iter().enumerate() {
                if self.one.partner(at).is_some() {
                    continue;
                }
                let mut free = two.tokens.iter().enumerate();
                let found = free.find(|(with, other)| {
                    self.two.partner(*with).is_none() && same(one, token, two, other)
                });
                if let Some((with, _)) = found {
                    self.join(at, with);
                }
            }
        }
        acronyms(&mut self.one, &mut self.two);
        acronyms(&mut self.two, &mut self.one);
    }

    fn join(&mut self, one: usize, two: usize) {
        self.one.set(one, two);
        self.two.set(two, one);
    }
}

// === impl Side ===

impl<'r, 't> Side<'r, 't> {
    fn new(reading: &'r Reading<'t>) -> Self {
        Self {
            reading,
            partners: vec![None; reading.tokens.len()],
        }
    }

    /// Where the other text has the same.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }

    pub(super) fn tokens(&self) -> impl Iterator<Item = (usize, &'r Token)> {
        self.reading.tokens.iter().enumerate()
    }

    /// Tokens of substance that the other text lacks.
    pub(super) fn unmatched(&self) -> impl Iterator<Item = (usize, &'r Token)> {
        self.reading
            .matter()
            .filter(|(at, _)| self.partner(*at).is_none())
    }

    fn set(&mut self, at: usize, partner: usize) {
        if let Some(slot) = self.partners.get_mut(at) {
            *slot = Some(partner);
        }
    }
}

fn same_written(a: &Reading<'_>, one: &Token, b: &Reading<'_>, two: &Token) -> bool {
    one.name == two.name && same_text(a, one, b, two)
}

fn same_text(a: &Reading<'_>, one: &Token, b: &Reading<'_>, two: &Token) -> bool {
    one.amount.is_none() && two.amount.is_none() && a.text(one) == b.text(two)
}

fn same_amount_or_stem(a: &Reading<'_>, one: &Token, b: &Reading<'_>, two: &Token) -> bool {
    match (one.amount, two.amount) {
        (Some(one), Some(two)) => {
            let amounts = a.amounts.get(one).zip(b.amounts.get(two));
            amounts.is_some_and(|(one, two)| one.equals(two))
        }
        (None, None) => {
            let function = one.has(Role::Function) || two.has(Role::Function);
            !function && same_stem(a.text(one), b.text(two))
        }
        _ => false,
    }
}

/// "cost" is "price" before it is "how much".
fn same_matter(a: &Reading<'_>, one: &Token, b: &Reading<'_>, two: &Token) -> bool {
    one.is_matter() && two.is_matter() && same_concept(a, one, b, two)
}

fn same_concept(_: &Reading<'_>, one: &Token, _: &Reading<'_>, two: &Token) -> bool {
    let entries = one.entry.zip(two.entry);
    entries.is_some_and(|(one, two)| one.agrees(two))
}

fn mistyped(a: &Reading<'_>, one: &Token, b: &Reading<'_>, two: &Token) -> bool {
    let plain = |token: &Token| token.amount.is_none() && !token.is_phrase();
    if !plain(one) || !plain(two) || one.entry.is_some() == two.entry.is_some() {
        return false;
    }
    let (one, two) = (a.text(one), b.text(two));
    let lexicon = Lexicon::get();
    !turned_round(lexicon, one, two) && is_typo(one, two)
}

/// Whether one word is the other with a prefix that negates it.
pub(super) fn turned_round(lexicon: &Lexicon, one: &str, two: &str) -> bool {
    let negates = |long: &str, short: &str| {
        let mut prefixes = lexicon.prefixes.iter();
        short.len() >= 3
            && prefixes.any(|prefix| {
                let rest = long.strip_prefix(prefix);
                rest.is_some_and(|rest| rest == short || same_stem(rest, short))
            })
    };
    negates(one, two) || negates(two, one)
}

/// Joins an acronym of one side with the words of the other whose initials it has.
fn acronyms(short: &mut Side<'_, '_>, long: &mut Side<'_, '_>) {
    let (ours, theirs) = (short.reading, long.reading);
    for (at, token) in ours.tokens.iter().enumerate() {
        let text = ours.text(token);
        let free = short.partner(at).is_none() && !token.has(Role::Function);
        if !free || !ACRONYM.contains(&text.len()) || !text.is_ascii() || token.is_phrase() {
            continue;
        }
        let words = theirs.words.words.windows(text.len());
        let start = words.into_iter().position(|run| {
            let mut letters = run.iter().zip(text.chars());
            letters.all(|(word, letter)| theirs.words.text(word).starts_with(letter))
        });
        let Some(start) = start else {
            continue;
        };
        let run = start..start + text.len();
        for (with, other) in theirs.tokens.iter().enumerate() {
            let words = other.words();
            if run.contains(&words.start) && words.end <= run.end {
                long.set(with, at);
                short.set(at, with);
            }
        }
    }
}
