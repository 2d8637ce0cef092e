use crate::guard::lexicon::{Entry, Role};
use crate::guard::pair::{Pair, Side};

/// Two things have changed places, and nothing else has: "do wolves eat foxes" and "do foxes eat wolves",
/// "glue wood onto metal" and "glue metal onto wood".
///
/// No word has to be known for it, unlike in [`order`](super::order).
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    swapped(pair) || exchanged(pair) || persons(pair)
}

/// Who does it in one text has it done to them in the other: "I love you" and "you love me".
fn persons(pair: &Pair<'_, '_>) -> bool {
    let turned = |side: &Side<'_, '_>, other: &Side<'_, '_>| {
        side.tokens().any(|(at, token)| {
            let does = at.checked_sub(1).and_then(|at| person(side, at));
            let deed = does.filter(|_| !token.has(Role::Function));
            let Some((does, with)) = deed.zip(side.partner(at)) else {
                return false;
            };
            let other_does = with.checked_sub(1).and_then(|at| person(other, at));
            // "price match you": what is done may be said in several words.
            let mut rest = (with + 1..other.reading.tokens.len()).skip_while(|at| {
                let token = other.reading.tokens.get(*at);
                token.is_some_and(|token| token.is_matter() && !token.parted)
            });
            let done_to = rest.next().and_then(|at| person(other, at));
            done_to == Some(does) && other_does != Some(does)
        })
    };
    turned(&pair.one, &pair.two) || turned(&pair.two, &pair.one)
}

/// The one who asks, or the one who is asked.
fn person(side: &Side<'_, '_>, at: usize) -> Option<Role> {
    let token = side.reading.tokens.get(at)?;
    match side.reading.text(token) {
        "i" | "we" | "me" | "us" => Some(Role::Mine),
        "you" => Some(Role::Yours),
        _ => None,
    }
}

/// The longest that can have changed places, in tokens.
const LONGEST: usize = 4;

/// Between what both texts begin and end with, one says `X m Y` and the other `Y m X`, and `m` is more
/// than a word that relates both ways, as "and" does.
fn swapped(pair: &Pair<'_, '_>) -> bool {
    let len = pair.one.reading.tokens.len();
    if len != pair.two.reading.tokens.len() {
        return false;
    }
    let same = |at: usize, with: usize| pair.one.partner(at) == Some(with);
    let start = (0..len).take_while(|at| same(*at, *at)).count();
    let end = len - (start..len).rev().take_while(|at| same(*at, *at)).count();
    if end - start < 3 {
        return false;
    }
    let heads = 1..=LONGEST.min(end - start - 2);
    heads.into_iter().any(|head| {
        let tails = 1..=LONGEST.min(end - start - head - 1);
        tails.into_iter().any(|tail| {
            let middle = end - start - head - tail;
            let turned = (0..head).all(|at| same(start + at, start + tail + middle + at))
                && (0..middle).all(|at| same(start + head + at, start + tail + at))
                && (0..tail).all(|at| same(start + head + middle + at, start + at));
            turned
                && weighs(&pair.one, start, head)
                && weighs(&pair.one, end - tail, tail)
                && relates(&pair.one, start + head, middle)
        })
    })
}

/// Whether one of these tokens is a thing.
fn weighs(side: &Side<'_, '_>, from: usize, count: usize) -> bool {
    let mut tokens = side.reading.tokens.iter().skip(from).take(count);
    tokens.any(|token| token.is_matter() || token.amount.is_some())
}

/// Whether one of these tokens relates what stands on both sides of it in one way only.
fn relates(side: &Side<'_, '_>, from: usize, count: usize) -> bool {
    let mut tokens = side.reading.tokens.iter().skip(from).take(count);
    tokens.any(|token| !token.has(Role::Symmetric) && !token.has(Role::Single))
}

/// Of two things that both texts have, each stands behind the preposition of the other, or one stands
/// behind a preposition and the other behind none.
fn exchanged(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (marks(&pair.one), marks(&pair.two));
    let both: Vec<(&str, &str)> = pair
        .one
        .tokens()
        .filter(|(_, token)| token.is_matter() || token.amount.is_some())
        .filter_map(|(at, _)| {
            let ours = one.get(at)?;
            let theirs = two.get(pair.one.partner(at)?)?;
            (ours != theirs).then_some((*ours, *theirs))
        })
        .collect();
    both.iter()
        .any(|(ours, theirs)| both.contains(&(*theirs, *ours)))
}

/// The preposition that each token stands behind, with articles and adjectives between; empty where it
/// stands behind none.
fn marks<'r>(side: &Side<'r, '_>) -> Vec<&'r str> {
    let (mut mark, mut within) = ("", false);
    let marks = side.tokens().map(|(_, token)| {
        let article = token.has(Role::Single) || token.has(Role::Mine) || token.has(Role::Yours);
        let text = side.reading.text(token);
        if token.amount.is_some() && within {
            // "in 3 hours": hours in minutes, and minutes in hours.
            mark = "";
        }
        within = token.has(Role::Within);
        let marks = |entry: &Entry| entry.has(Role::Marker);
        let last = side.reading.last_word(token);
        let last = last.filter(|(_, entry)| token.is_phrase() && entry.is_some_and(marks));
        if token.has(Role::Marker) {
            mark = text;
        } else if let Some((text, _)) = last.filter(|_| token.has(Role::Light)) {
            mark = text;
        } else if token.parted || (token.has(Role::Function) && !article && text != "the") {
            mark = "";
        }
        mark
    });
    marks.collect()
}
