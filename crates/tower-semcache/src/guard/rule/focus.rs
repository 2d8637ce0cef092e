use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};

/// Both texts ask for something, and for nothing in common; or one asks when, where, why or how many and
/// the other for a thing, for the way, for yes or no.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (Focus::of(&pair.one), Focus::of(&pair.two));
    let manner = one.asks & MANNER != two.asks & MANNER;
    let apart = one.matter() != 0 && two.matter() != 0 && one.matter() & two.matter() == 0;
    let task = two.task && one.wonders(two) || one.task && two.wonders(one);
    let means = one.explains(two) || two.explains(one);
    manner || apart || task || means || one.clashes(two) || two.clashes(one)
}

/// The lines of `focus.txt` that have a meaning of their own.
///
/// "What is it used for", "where does it come from".
const ASIDE: u32 = 0b11 << 21;
const MEANING: u32 = 1 << 23;
const WHEN: u32 = 1;
const WHERE: u32 = 1 << 1;
const WHY: u32 = 1 << 3;
const MANY: u32 = 1 << 4;
const LONG: u32 = 1 << 5;
/// "Who do I tell" is "how do I report".
const WHO: u32 = 1 << 2;
/// "What is the VAT" is "how much is the VAT".
const MUCH: u32 = 1 << 9;
const HOW: u32 = 1 << 10;
/// "How did it end" and "when did it end" ask for two things.
const MANNER: u32 = 1 << 11;
/// "Which".
const THING: u32 = 1 << 12;

#[derive(Clone, Copy, Debug)]
pub(in crate::guard) struct Focus {
    /// By words that ask.
    asks: u32,
    /// By nouns as well.
    all: u32,
    /// By every word, wherever it stands.
    said: u32,
    /// For yes or no.
    polar: bool,
    /// For an explanation, a text, a program.
    task: bool,
}

impl Focus {
    pub(in crate::guard) fn of(side: &Side<'_, '_>) -> Self {
        let mut focus = Self {
            asks: 0,
            all: 0,
            said: 0,
            polar: false,
            task: false,
        };
        let mut opens = true;
        for (at, token) in side.tokens() {
            opens |= token.parted;
            focus.task |= token.has(Role::Task);
            focus.said |= token.entry.map_or(0, |entry| entry.asks | entry.focus);
            focus.polar |= opens && token.has(Role::Polar);
            let first = side.reading.first_word(token);
            let first = first.filter(|_| opens).map_or(0, |entry| entry.asks);
            let entry = token
                .entry
                .map_or((0, 0), |entry| (entry.asks, entry.focus));
            // "how many miles is it": what is asked for is a length, not a count.
            let next = side.reading.tokens.get(at + 1);
            let unit = next
                .and_then(|next| next.entry)
                .and_then(|entry| entry.unit);
            if entry.0 & (MANY | MUCH) != 0 && unit.is_some() {
                focus.asks |= THING;
                focus.all |= THING | MANY | MUCH | LONG | WHEN;
                opens = false;
                continue;
            }
            // "when I sell" asks nothing, "when do I sell" does, and "by when".
            let asks = first
                | if opens || token.is_phrase() {
                    entry.0
                } else {
                    0
                };
            focus.asks |= asks;
            focus.all |= asks | (entry.1 & !entry.0);
            let leads = [Role::Chatter, Role::Break, Role::Pivot, Role::Within];
            opens = leads.into_iter().any(|role| token.has(role))
                && (opens || !token.has(Role::Chatter));
        }
        focus
    }

    /// Whether one text asks for something that the other has no word for.
    pub(in crate::guard) const fn alone(self, other: Self) -> bool {
        let asked = self.asks & !(HOW | MANNER | THING);
        asked != 0 && asked & (other.all | other.said) == 0
    }

    /// Whether one asks how to, and the other for a meaning.
    const fn explains(self, other: Self) -> bool {
        let how = self.asks & HOW != 0 && self.said & MEANING == 0;
        how && other.said & MEANING != 0 && other.said & HOW == 0
    }

    /// Whether one names the kind of its answer, a price or a number, and the other none.
    pub(in crate::guard) const fn names(self, other: Self) -> bool {
        let named = self.matter() & !self.asks;
        named != 0 && named & other.said == 0 && other.matter() == 0
    }

    /// Whether one asks when, where, who or why, and the other has no word for it.
    const fn wonders(self, other: Self) -> bool {
        self.alone(other) && self.asks & (WHEN | WHERE | WHO | WHY) != 0
    }

    /// Whether both ask for the same, and not just which, or how to.
    pub(in crate::guard) const fn agrees(self, other: Self) -> bool {
        self.matter() & other.matter() != 0
    }

    /// Uses and origins that are spoken of.
    pub(in crate::guard) const fn aside(self) -> u32 {
        self.all & ASIDE
    }

    /// What is asked for, "how" and "which" aside.
    const fn matter(self) -> u32 {
        self.all & !(HOW | MANNER | THING)
    }

    /// Whether one asks for something that the other, asking otherwise, does not.
    const fn clashes(self, other: Self) -> bool {
        let asked = other.asks & !(HOW | MANNER | THING);
        let way = self.asks & HOW != 0 && asked & !WHO != 0;
        let thing = self.asks & THING != 0 && asked & !(WHO | MUCH) != 0;
        let polar = self.polar && self.asks == 0 && asked != 0;
        self.matter() == 0 && (way || thing || polar)
    }
}
