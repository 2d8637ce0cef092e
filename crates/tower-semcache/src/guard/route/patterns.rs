//! The patterns of `route.txt`.

use std::sync::LazyLock;

use super::Reason;
use super::pattern::{Pattern, Place};
use crate::guard::hash::Table;
use crate::guard::table;

/// All patterns, by their first word, in the order of the file.
#[derive(Debug)]
pub(super) struct Patterns {
    by_word: Table<&'static str, Vec<(Pattern, Meaning)>>,
}

/// What a pattern says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// Its words say nothing.
    Stable,
    /// A question that overrules signs of some kinds: from here to the end of its sentence, and in all
    /// of the text.
    Frame { here: Kinds, anywhere: Kinds },
    /// The text goes past the semantic tier, unless a question overrules signs of this kind.
    Sign { reason: Reason, kind: Kinds },
}

/// A set of kinds of signs, a bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kinds(u32);

static PATTERNS: LazyLock<Patterns> = LazyLock::new(Patterns::load);

// === impl Patterns ===

impl Patterns {
    /// Read at the first call.
    pub(super) fn get() -> &'static Self {
        &PATTERNS
    }

    /// What the words begin with, and how many of them that takes.
    pub(super) fn at<'w>(
        &'w self,
        words: &'w [&'w str],
        place: Place,
    ) -> impl Iterator<Item = (usize, Meaning)> + 'w {
        let known = words.first().and_then(|word| self.by_word.get(word));
        let rest = words.get(1..).unwrap_or_default();
        known
            .into_iter()
            .flatten()
            .filter_map(move |(pattern, meaning)| {
                let taken = pattern.matches(rest, place)?;
                Some((taken + 1, *meaning))
            })
    }

    fn load() -> Self {
        let mut by_word: Table<_, Vec<_>> = Table::default();
        let mut kinds = Vec::new();
        for (section, line) in table::sections(include_str!("../data/route.txt")) {
            let meaning = Meaning::read(section, &mut kinds);
            for first in Pattern::first(line) {
                let known = by_word.entry(first).or_default();
                known.push((Pattern::new(line), meaning));
            }
        }
        Self { by_word }
    }
}

// === impl Meaning ===

impl Meaning {
    fn read(section: &'static str, known: &mut Vec<&'static str>) -> Self {
        let (name, kinds) = section.split_once(' ').unwrap_or((section, ""));
        let (here, anywhere) = kinds.split_once('|').unwrap_or((kinds, ""));
        let (here, anywhere) = (Kinds::read(here, known), Kinds::read(anywhere, known));
        let reason = match name {
            "fresh" => Reason::Fresh,
            "private" => Reason::Private,
            "action" => Reason::Action,
            "frame" => return Self::Frame { here, anywhere },
            _ => return Self::Stable,
        };
        Self::Sign { reason, kind: here }
    }
}

// === impl Kinds ===

impl Kinds {
    #[must_use]
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }

    fn read(names: &'static str, known: &mut Vec<&'static str>) -> Self {
        let mut kinds = 0;
        for name in names.split_whitespace() {
            let at = known.iter().position(|known| *known == name);
            let at = at.unwrap_or_else(|| {
                known.push(name);
                known.len() - 1
            });
            kinds |= 1 << at;
        }
        Self(kinds)
    }
}
