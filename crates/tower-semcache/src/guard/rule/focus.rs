use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};

/// Both texts ask for something, and for nothing in common; or one asks when, where, why or how many and
/// the other for a thing, for the way, for yes or no.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (Focus::of(&pair.one), Focus::of(&pair.two));
    let manner = one.asks & MANNER != two.asks & MANNER;
    let apart = one.matter() != 0 && two.matter() != 0 && one.matter() & two.matter() == 0;
    manner || apart || one.clashes(two) || two.clashes(one)
}

/// The lines of `focus.txt` that have a meaning of their own.
///
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
struct Focus {
    /// By words that ask.
    asks: u32,
    /// By nouns as well.
    all: u32,
    /// For yes or no.
    polar: bool,
}

impl Focus {
    fn of(side: &Side<'_, '_>) -> Self {
        let mut focus = Self {
            asks: 0,
            all: 0,
            polar: false,
        };
        let mut opens = true;
        for (_, token) in side.tokens() {
            opens |= token.parted;
            focus.polar |= opens && token.has(Role::Polar);
            let first = side.reading.first_word(token);
            let first = first.filter(|_| opens).map_or(0, |entry| entry.asks);
            let entry = token
                .entry
                .map_or((0, 0), |entry| (entry.asks, entry.focus));
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
