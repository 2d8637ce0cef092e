//! What the tables know about words: one look-up gives all of it.

use std::sync::LazyLock;

use super::hash::Table;
use super::stem::stem;
use super::table;
use super::words::Words;

/// The tables, joined.
pub(super) struct Lexicon {
    words: Table<String, Entry>,
    /// Entries of words that stand in no table themselves, by stem.
    stems: Table<String, Entry>,
    /// Terms of several words, by their first; the longest first.
    phrases: Table<String, Vec<(Vec<String>, Entry)>>,
    /// Prefixes that turn a word round.
    pub(super) prefixes: Vec<&'static str>,
}

/// What is known of a term.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// What it does in a text: a set of [`Role`]s.
    roles: u32,
    /// Groups of terms that ask for the same.
    pub(super) concepts: Vec<u16>,
    /// Where it stands among alternatives: (set, alternative).
    pub(super) sides: Vec<(u16, u16)>,
    /// Classes of scope, a bit each.
    pub(super) scope: u32,
    /// Classes of scope that need an amount behind them.
    pub(super) bounds: u32,
    /// What a question asks for, a bit each: with this word, or by this noun.
    pub(super) asks: u32,
    pub(super) focus: u32,
    pub(super) unit: Option<Unit>,
    pub(super) number: Option<Number>,
}

/// What a word does in a text: the sections of `words.txt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Function,
    Light,
    Chatter,
    Negation,
    Mine,
    Yours,
    Other,
    Person,
    Source,
    Target,
    Pivot,
    Single,
    Forenoon,
    Afternoon,
    Break,
    Foreign,
    Object,
    Polar,
    Decisive,
    Within,
    Symmetric,
    Marker,
    Carrier,
    Task,
    Together,
    Earlier,
    Later,
}

/// A unit of measure: amounts of one dimension are compared after multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) dimension: u16,
    pub(super) factor: i64,
    /// May go unsaid: "at 18" is "at 18 years".
    pub(super) silent: bool,
    /// What its name means as well, a dimension and a factor: pounds are money, and a mass.
    pub(super) also: Option<(u16, i64)>,
}

/// The value of a number word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Is(i64),
    Times(i64),
}

const ROLES: [(&str, Role); 27] = [
    ("function", Role::Function),
    ("light", Role::Light),
    ("chatter", Role::Chatter),
    ("negation", Role::Negation),
    ("self", Role::Mine),
    ("you", Role::Yours),
    ("other", Role::Other),
    ("person", Role::Person),
    ("source", Role::Source),
    ("target", Role::Target),
    ("pivot", Role::Pivot),
    ("single", Role::Single),
    ("forenoon", Role::Forenoon),
    ("afternoon", Role::Afternoon),
    ("break", Role::Break),
    ("foreign", Role::Foreign),
    ("object", Role::Object),
    ("polar", Role::Polar),
    ("decisive", Role::Decisive),
    ("within", Role::Within),
    ("symmetric", Role::Symmetric),
    ("marker", Role::Marker),
    ("carrier", Role::Carrier),
    ("task", Role::Task),
    ("together", Role::Together),
    ("earlier", Role::Earlier),
    ("later", Role::Later),
];

/// The dimension of times of the day. No table has it.
pub(super) const CLOCK: u16 = u16::MAX;

static ENGLISH: LazyLock<Lexicon> = LazyLock::new(Lexicon::english);

// === impl Lexicon ===

impl Lexicon {
    /// The tables for English. Read at the first call, a few milliseconds.
    pub(super) fn get() -> &'static Self {
        &ENGLISH
    }

    pub(super) fn word(&self, word: &str) -> Option<&Entry> {
        self.words.get(word).or_else(|| self.stems.get(stem(word)))
    }

    /// The longest term of several words that `words` begin with, and how many they are. Within it
    /// one object may stand: "turn it off".
    pub(super) fn phrase<'w>(
        &self,
        words: impl Iterator<Item = &'w str> + Clone,
    ) -> Option<(usize, &Entry)> {
        let mut rest = words;
        let phrases = self.phrases.get(rest.next()?)?;
        let object = rest.clone().next().and_then(|word| self.words.get(word));
        let split = object.is_some_and(|entry| entry.has(Role::Object));
        let held = |tail: &[String]| {
            let follows = |skip: usize| {
                let mut ahead = rest.clone().skip(skip);
                tail.iter().all(|word| ahead.next() == Some(word))
            };
            if follows(0) {
                Some(tail.len() + 1)
            } else {
                (split && follows(1)).then_some(tail.len() + 2)
            }
        };
        phrases
            .iter()
            .find_map(|(tail, entry)| Some((held(tail)?, entry)))
    }

    fn english() -> Self {
        let mut lexicon = Self {
            words: Table::default(),
            stems: Table::default(),
            phrases: Table::default(),
            prefixes: table::lines(include_str!("data/prefixes.txt")).collect(),
        };
        lexicon.read_vocabulary();
        lexicon.read_words();
        lexicon.read_units();
        lexicon.read_numbers();
        let next = lexicon.read_synonyms();
        lexicon.read_contrasts(next);
        let scope = include_str!("data/scope.txt");
        lexicon.read_classes(scope, |entry, bit, class| {
            let bounds = class.ends_with('#');
            let classes = if bounds {
                &mut entry.bounds
            } else {
                &mut entry.scope
            };
            *classes |= bit;
        });
        let focus = include_str!("data/focus.txt");
        lexicon.read_classes(focus, |entry, bit, class| {
            entry.focus |= bit;
            entry.asks |= if class.starts_with('~') { 0 } else { bit };
        });
        lexicon.index();
        lexicon
    }

    fn read_vocabulary(&mut self) {
        for line in table::lines(include_str!("data/vocabulary.txt")) {
            for word in line.split(' ') {
                self.words.entry(word.to_owned()).or_default();
            }
        }
    }

    fn read_words(&mut self) {
        for (section, term) in table::sections(include_str!("data/words.txt")) {
            if let Some((_, role)) = ROLES.iter().find(|(name, _)| *name == section) {
                self.add(term, |entry| entry.roles |= role.bit());
            }
        }
    }

    fn read_units(&mut self) {
        let mut dimensions: Vec<&str> = Vec::new();
        for (at, line) in (0u16..).zip(table::lines(include_str!("data/units.txt"))) {
            let mut parts = line.splitn(3, ' ');
            let (Some(name), Some(factor), Some(terms)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let known = dimensions.iter().position(|known| *known == name);
            let dimension = known.unwrap_or(dimensions.len());
            if known.is_none() {
                dimensions.push(name);
            }
            let unit = Unit {
                dimension: dimension as u16,
                factor: factor.parse().unwrap_or(1),
                silent: name.ends_with('~'),
                also: None,
            };
            for term in table::items(terms) {
                self.add(term, |entry| {
                    match &mut entry.unit {
                        Some(known) => known.also = Some((unit.dimension, unit.factor)),
                        None => entry.unit = Some(unit),
                    }
                    // One concept a unit, from the top: the synonyms count from zero.
                    entry.concepts.push(u16::MAX - at);
                });
            }
        }
    }

    fn read_numbers(&mut self) {
        for line in table::lines(include_str!("data/numbers.txt")) {
            let Some((value, word)) = line.split_once(' ') else {
                continue;
            };
            let number = match value.strip_prefix('x') {
                Some(times) => times.parse().map(Number::Times),
                None => value.parse().map(Number::Is),
            };
            if let Ok(number) = number {
                self.add(word, |entry| entry.number = Some(number));
            }
        }
    }

    fn read_synonyms(&mut self) -> u16 {
        let mut next = 0;
        for line in table::lines(include_str!("data/synonyms.txt")) {
            for term in table::items(line) {
                self.add(term, |entry| entry.concepts.push(next));
            }
            next += 1;
        }
        next
    }

    fn read_contrasts(&mut self, mut concept: u16) {
        for (set, line) in (0u16..).zip(table::lines(include_str!("data/contrasts.txt"))) {
            for (side, terms) in (0u16..).zip(line.split('|')) {
                for term in table::items(terms) {
                    self.add(term, |entry| {
                        entry.sides.push((set, side));
                        entry.concepts.push(concept);
                    });
                }
                concept += 1;
            }
        }
    }

    fn read_classes(&mut self, file: &'static str, mark: impl Fn(&mut Entry, u32, &str)) {
        for (bit, line) in (0u32..32).zip(table::lines(file)) {
            let (class, terms) = line.split_once('=').unwrap_or_default();
            for term in table::items(terms) {
                // A mark of the term, or of its class.
                let class = if term.starts_with('~') {
                    "~"
                } else {
                    class.trim()
                };
                let term = term.trim_start_matches('~');
                self.add(term, |entry| mark(entry, 1 << bit, class));
            }
        }
    }

    fn add(&mut self, term: &'static str, mark: impl FnOnce(&mut Entry)) {
        let words = Words::new(term);
        let mut words: Vec<String> = words.texts().map(str::to_owned).collect();
        match words.len() {
            0 => {}
            1 => mark(self.words.entry(words.swap_remove(0)).or_default()),
            _ => {
                let first = words.remove(0);
                let phrases = self.phrases.entry(first).or_default();
                let at = phrases.iter().position(|(tail, _)| *tail == words);
                let at = at.unwrap_or_else(|| {
                    phrases.push((words, Entry::default()));
                    phrases.len() - 1
                });
                if let Some((_, entry)) = phrases.get_mut(at) {
                    mark(entry);
                }
            }
        }
    }

    fn index(&mut self) {
        for (first, phrases) in &mut self.phrases {
            phrases.sort_by_key(|(tail, _)| std::cmp::Reverse(tail.len()));
            for (tail, entry) in phrases {
                let mut words = tail.iter().chain([first]);
                let grammar = words.all(|word| {
                    let entry = self.words.get(word.as_str());
                    entry.is_some_and(|entry| entry.has(Role::Function))
                });
                // "how much" asks, it is no matter of its own.
                if entry.asks != 0 || grammar {
                    entry.roles |= Role::Light.bit();
                }
            }
        }
        for (word, entry) in &self.words {
            let stem = stem(word);
            let matter = !entry.has(Role::Function) && entry.number.is_none();
            if stem.len() >= 4 && matter && !self.words.contains_key(stem) {
                let merged = self.stems.entry(stem.to_owned()).or_default();
                merged.merge(entry);
            }
        }
        for (word, entry) in &self.words {
            if !entry.has(Role::Function) && entry.number.is_none() && word.len() >= 4 {
                self.stems.entry(word.clone()).or_default().merge(entry);
            }
        }
    }
}

// === impl Entry ===

impl Entry {
    pub(super) fn has(&self, role: Role) -> bool {
        self.roles & role.bit() != 0
    }

    /// Whether two terms ask for the same.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.concepts
            .iter()
            .any(|concept| other.concepts.contains(concept))
    }

    fn merge(&mut self, other: &Self) {
        self.roles |= other.roles;
        self.scope |= other.scope;
        self.bounds |= other.bounds;
        self.focus |= other.focus;
        self.focus |= other.focus;
        self.unit = self.unit.or(other.unit);
        for concept in &other.concepts {
            if !self.concepts.contains(concept) {
                self.concepts.push(*concept);
            }
        }
        for side in &other.sides {
            if !self.sides.contains(side) {
                self.sides.push(*side);
            }
        }
    }
}

// === impl Unit ===

impl Unit {
    /// What its name may mean: dimensions and factors.
    pub(super) fn readings(self) -> impl Iterator<Item = (u16, i64)> {
        [(self.dimension, self.factor)].into_iter().chain(self.also)
    }
}

// === impl Role ===

impl Role {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}
