//! Two texts side by side: which token of one is which of the other.

use super::amount::Amount;
use super::lexicon::{Lexicon, Role};
use super::reading::{Reading, Token};
use super::stem::stem;
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
type Same = fn(&Item<'_>, &Item<'_>) -> bool;
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
        let (one, two) = (items(self.one.reading), items(self.two.reading));
        for same in PASSES {
            for (at, item) in one.iter().enumerate() {
                if self.one.partner(at).is_some() {
                    continue;
                }
                let mut free = two.iter().enumerate();
                let found = free
                    .find(|(with, other)| self.two.partner(*with).is_none() && same(item, other));
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

/// A token with what is compared of it.
struct Item<'r> {
    token: &'r Token,
    text: &'r str,
    stem: &'r str,
    amount: Option<&'r Amount>,
    function: bool,
    matter: bool,
}

fn items<'r>(reading: &'r Reading<'_>) -> Vec<Item<'r>> {
    let tokens = reading.tokens.iter();
    let items = tokens.map(|token| Item {
        token,
        text: reading.text(token),
        stem: reading.stem(token),
        amount: token.amount.and_then(|at| reading.amounts.get(at)),
        function: token.has(Role::Function),
        matter: token.is_matter(),
    });
    items.collect()
}

fn same_written(one: &Item<'_>, two: &Item<'_>) -> bool {
    one.token.name == two.token.name && same_text(one, two)
}

fn same_text(one: &Item<'_>, two: &Item<'_>) -> bool {
    one.amount.is_none() && two.amount.is_none() && one.text == two.text
}

fn same_amount_or_stem(one: &Item<'_>, two: &Item<'_>) -> bool {
    match (one.amount, two.amount) {
        (Some(one), Some(two)) => one.equals(two),
        (None, None) => !one.function && !two.function && one.stem == two.stem,
        _ => false,
    }
}

/// "cost" is "price" before it is "how much".
fn same_matter(one: &Item<'_>, two: &Item<'_>) -> bool {
    one.matter && two.matter && same_concept(one, two)
}

fn same_concept(one: &Item<'_>, two: &Item<'_>) -> bool {
    let entries = one.token.entry.zip(two.token.entry);
    entries.is_some_and(|(one, two)| one.agrees(two))
}

fn mistyped(one: &Item<'_>, two: &Item<'_>) -> bool {
    let plain = |item: &Item<'_>| item.amount.is_none() && !item.token.is_phrase();
    let one_known = one.token.entry.is_some() != two.token.entry.is_some();
    one_known
        && plain(one)
        && plain(two)
        && is_typo(one.text, two.text)
        && !turned_round(Lexicon::get(), one.text, two.text)
}

/// Whether one word is the other with a prefix that negates it.
pub(super) fn turned_round(lexicon: &Lexicon, one: &str, two: &str) -> bool {
    let negates = |long: &str, short: &str| {
        let mut prefixes = lexicon.prefixes.iter();
        short.len() >= 3
            && prefixes.any(|prefix| {
                let rest = long.strip_prefix(prefix);
                rest.is_some_and(|rest| rest == short || stem(rest) == stem(short))
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
