use std::collections::HashSet;
use std::sync::LazyLock;

use crate::guard::pair::Pair;
use crate::guard::table;

/// Where nothing but capitals tells two texts apart, an embedder that ignores them finds them equal: `-d` and `-D`, mA and
/// MA. What people write either way may differ: the first letter of a sentence or a title, an acronym, and any word of a
/// text that was typed without capitals, or in nothing else.
///
/// Where more differs, capitals are the business of [`names`](super::names).
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (pair.one.reading.source, pair.two.reading.source);
    let words = || {
        let words = one.split_whitespace().zip(two.split_whitespace());
        words.map(|(one, two)| (bare(one), bare(two)))
    };
    let same_count = one.split_whitespace().count() == two.split_whitespace().count();
    if !same_count || !words().all(|(one, two)| one.eq_ignore_ascii_case(two)) {
        return false;
    }
    let begins = words().next().is_some_and(|(one, two)| one != two);
    let differing = words().filter(|(one, two)| one != two).count();
    let typed_alike = (begins || differing > 1) && [one, two].into_iter().any(is_of_one_case);
    words().enumerate().any(|(at, (one, two))| {
        let known = one == two || either_way(one, two, at == 0);
        !known && (!typed_alike || is_telling(one))
    })
}

/// Typed without capitals, or in nothing else: its capitals mean nothing.
fn is_of_one_case(text: &str) -> bool {
    !text.contains(char::is_uppercase) || !text.contains(char::is_lowercase)
}

/// Means something else in capitals, whoever typed it: an option of a command, a unit.
fn is_telling(word: &str) -> bool {
    word.starts_with('-') || TABLES.units.contains(&*word.to_ascii_lowercase())
}

/// Words by what capitals make of them: the sections of `case.txt`.
struct Tables {
    /// Mean one thing in small letters and another as a name or an acronym.
    names: HashSet<&'static str>,
    /// Units of two letters: capitals are powers of ten, or bits and bytes.
    units: HashSet<&'static str>,
    /// Acronyms of two letters that are no words and no units.
    acronyms: HashSet<&'static str>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let section = |name| {
        let items = table::sections(include_str!("../data/case.txt"));
        items.filter_map(move |(section, word)| (section == name).then_some(word))
    };
    Tables {
        names: section("names").collect(),
        units: section("units").collect(),
        acronyms: section("acronyms").collect(),
    }
});

/// Without the punctuation of the sentence. A dash before it belongs to it: an option of a command.
fn bare(word: &str) -> &str {
    word.trim_matches(['.', ',', ';', ':', '?', '!', '"', '\'', '(', ')'])
}

/// Whether a word is written in these two ways without meaning two things.
fn either_way(one: &str, two: &str, begins: bool) -> bool {
    let small = one.to_ascii_lowercase();
    let letters = |word: &str| {
        word.bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'\'')
    };
    if !letters(one) || TABLES.units.contains(&*small) {
        return false;
    }
    let known = [Shape::of(one), Shape::of(two)];
    if known.contains(&Shape::Mixed) {
        return false;
    }
    let acronym = known.contains(&Shape::Capitals);
    match small.len() {
        1 => matches!(&*small, "a" | "i"),
        2 if acronym => TABLES.acronyms.contains(&*small),
        _ if begins && !acronym => true,
        _ => !TABLES.names.contains(&*small),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Small,
    Title,
    Capitals,
    Mixed,
}

impl Shape {
    fn of(word: &str) -> Self {
        let capital = |byte: u8| byte.is_ascii_uppercase();
        let mut bytes = word.bytes();
        let first = bytes.next().is_some_and(capital);
        let rest = bytes.clone().filter(|byte| capital(*byte)).count();
        let others = bytes.filter(u8::is_ascii_alphabetic).count();
        match (first, rest) {
            (false, 0) => Self::Small,
            (true, 0) => Self::Title,
            (true, rest) if rest == others => Self::Capitals,
            _ => Self::Mixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::guard::{Guard, Guards, Rule};

    #[test]
    fn capitals_that_mean_something_tell_texts_apart() {
        for (one, two) in [
            ("what does git branch -d do", "what does git branch -D do"),
            ("explain ls -r", "explain ls -R"),
            ("10 mA in A", "10 MA in A"),
            ("how many MB in a GB", "how many Mb in a Gb"),
            ("how do I polish silver", "how do I Polish silver"),
            ("is it safe to tell us", "is it safe to tell US"),
            ("what does getUser return", "what does getuser return"),
            ("who is x", "who is X"),
            ("How many MB in a GB", "how many mb in a gb"),
        ] {
            assert!(
                Rule::CASE.accepts(one, two).rule().is_some(),
                "{one} / {two}"
            );
            assert!(
                Rule::CASE.accepts(two, one).rule().is_some(),
                "{two} / {one}"
            );
            assert!(!Guards::english().accepts(one, two).is_accept());
        }
    }

    #[test]
    fn what_people_write_either_way_does_not() {
        for (one, two) in [
            (
                "what is the capital of france?",
                "What is the capital of France?",
            ),
            ("How To Bake A Cake", "how to bake a cake"),
            ("what is an ai model", "What is an AI model"),
            ("how do i learn sql", "how do I learn SQL"),
            ("will it rain today", "Will it rain today"),
            (
                "How do I sort a list in JavaScript?",
                "how do i sort a list in javascript",
            ),
            ("Which D vitamin is it", "which d vitamin is it"),
            ("Who is the father of Luke?", "WHO IS THE FATHER OF LUKE?"),
        ] {
            assert!(Rule::CASE.accepts(one, two).is_accept(), "{one} / {two}");
            assert!(Rule::CASE.accepts(two, one).is_accept(), "{two} / {one}");
        }
    }
}
