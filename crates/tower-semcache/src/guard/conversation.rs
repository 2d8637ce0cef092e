//! Whole conversations: when the answer to one may serve the other.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::lexicon::Role;
use super::pair::{Pair, Side};
use super::reading::{Reading, Token};
use super::rule::Rule;
use super::words::Words;
use super::{Guard, Guards, Verdict, table};

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The caller.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn<'t> {
    /// Who said it.
    pub speaker: Speaker,
    /// What.
    pub text: &'t str,
}

/// Guards for conversations: the last message, and as much of what was said before as it leans on.
///
/// * The last messages must agree under the given guards.
/// * Equal histories: accepted.
/// * A last message that stands by itself, in both conversations, does not care about the history:
///   it refers to nothing said before, does not speak of the one who asks, and says enough.
/// * A last message that leans on the history needs a history that says the same: one of the two
///   may digress, in sentences of their own that bring no name, number, negation or opposite. Facts
///   of one kind (two dates, two orders) must keep their order. What is no question ("yes please",
///   "the second one", "cancel it") needs an equal history.
///
/// A digression that changes the answer ("it was in the sale") is not seen as such.
#[derive(Clone, Debug, Default)]
pub struct Conversations {
    guards: Guards,
}

/// The words of `history.txt`.
struct Leaning {
    sections: HashMap<&'static str, HashSet<&'static str>>,
    continues: Vec<Vec<&'static str>>,
    requests: Vec<Vec<&'static str>>,
    existential: Vec<Vec<&'static str>>,
}

/// Words of substance in a message that stands by itself: with someone or something named, without.
const ENOUGH: [usize; 2] = [2, 4];

/// Separates turns in a text that holds a conversation.
const TURN: char = '\u{1e}';
const ASSISTANT: char = '\u{1f}';

static LEANING: LazyLock<Leaning> = LazyLock::new(Leaning::load);

// === impl Conversations ===

impl Conversations {
    /// Compares last messages under `guards`.
    #[must_use]
    pub const fn new(guards: Guards) -> Self {
        Self { guards }
    }

    /// Compares two conversations whose last turn is the one to be answered.
    #[must_use]
    pub fn compare(&self, asked: &[Turn<'_>], cached: &[Turn<'_>]) -> Verdict {
        let (Some((last, before)), Some((other, earlier))) =
            (asked.split_last(), cached.split_last())
        else {
            return Verdict::accept_unless(asked.len() != cached.len(), "history");
        };
        let verdict = self.guards.accepts(last.text, other.text);
        if !verdict.is_accept() || same_history(before, earlier) {
            return verdict;
        }
        if stands_alone(last.text) && stands_alone(other.text) {
            return Verdict::Accept;
        }
        let agree = asks(last.text) && asks(other.text) && agree(before, earlier);
        Verdict::accept_unless(!agree, "history")
    }

    /// A conversation as one text, for a [`Lookup`](crate::Lookup) and this guard. Embed only its
    /// [last message](last_message).
    #[must_use]
    pub fn join(turns: &[Turn<'_>]) -> String {
        let mut text = String::new();
        for (at, turn) in turns.iter().enumerate() {
            if at > 0 {
                text.push(TURN);
            }
            if turn.speaker == Speaker::Assistant {
                text.push(ASSISTANT);
            }
            text.extend(
                turn.text
                    .chars()
                    .filter(|c| !matches!(*c, TURN | ASSISTANT)),
            );
        }
        text
    }
}

impl Guard for Conversations {
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        self.compare(&split(asked), &split(cached))
    }
}

/// What is to be answered: the last turn of a [joined](Conversations::join) conversation. A text
/// that is no conversation is its own last message.
#[must_use]
pub fn last_message(text: &str) -> &str {
    let last = text.rsplit(TURN).next().unwrap_or(text);
    last.trim_start_matches(ASSISTANT)
}

/// Whether a message can be answered without what was said before it.
///
/// ```
/// use tower_semcache::guard::stands_alone;
///
/// assert!(stands_alone("Do you deliver to Norway?"));
/// assert!(!stands_alone("How much does it cost?"));
/// assert!(!stands_alone("Can I bring my dog?"));
/// ```
#[must_use]
pub fn stands_alone(message: &str) -> bool {
    let leaning = &*LEANING;
    let reading = Reading::new(message);
    let words: Vec<&str> = reading.words.texts().collect();
    let has = |section: &str| words.iter().any(|word| leaning.has(section, word));
    let opens = |patterns: &[Vec<&str>]| patterns.iter().any(|pattern| words.starts_with(pattern));
    let continues = opens(&leaning.continues) || opens(&leaning.requests);
    if continues || has("asker") || refers(&words) || bare_definite(&reading) {
        return false;
    }
    let matter = reading.matter().map(|(_, token)| token.words().len());
    let matter = matter.sum::<usize>() + reading.amounts.len();
    let named = has("asked") || reading.matter().any(|(_, token)| token.name);
    let [named_enough, enough] = ENOUGH;
    reading.covered && matter >= if named { named_enough } else { enough }
}

/// Whether a word stands for something said before: "it", and "there" unless as in "is there".
fn refers(words: &[&str]) -> bool {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let mut idle = LEANING.existential.iter();
        match idle.find(|pattern| rest.starts_with(pattern)) {
            Some(pattern) => rest = rest.get(pattern.len()..).unwrap_or_default(),
            None if LEANING.has("refers", word) => return true,
            None => rest = after,
        }
    }
    false
}

/// "the cost" without saying of what: it was said before.
fn bare_definite(reading: &Reading<'_>) -> bool {
    let tokens = reading.tokens.iter().enumerate();
    let mut articles = tokens.filter(|(_, token)| LEANING.has("article", reading.text(token)));
    articles.any(|(at, _)| {
        let mut rest = reading.tokens.iter().skip(at + 1);
        let named = reading.tokens.get(at + 1).is_some_and(|token| token.name);
        !named && !rest.any(|token| LEANING.has("complement", reading.text(token)))
    })
}

/// Whether a message is a question of its own: not an assent, a choice or an instruction, which mean
/// what was offered before.
fn asks(message: &str) -> bool {
    let reading = Reading::new(message);
    let words: Vec<&str> = reading.words.texts().collect();
    let mut rest = words.as_slice();
    while let Some(pattern) = LEANING
        .continues
        .iter()
        .find(|pattern| rest.starts_with(pattern))
    {
        rest = rest.get(pattern.len()..).unwrap_or_default();
    }
    let question = rest.first().is_some_and(|word| LEANING.has("asks", word));
    question
        && !LEANING
            .requests
            .iter()
            .any(|pattern| rest.starts_with(pattern))
}

fn same_history(one: &[Turn<'_>], two: &[Turn<'_>]) -> bool {
    one.len() == two.len()
        && one.iter().zip(two).all(|(one, two)| {
            one.speaker == two.speaker
                && (one.text == two.text
                    || Words::new(one.text)
                        .texts()
                        .eq(Words::new(two.text).texts()))
        })
}

/// Whether one history says all that the other says, and then only digresses.
fn agree(one: &[Turn<'_>], two: &[Turn<'_>]) -> bool {
    let (one, two) = (whole(one), whole(two));
    let (one, two) = (one.as_str().min(&two), one.as_str().max(&two));
    let (one, two) = (Reading::new(one), Reading::new(two));
    let pair = Pair::new(&one, &two);
    let rules = [Rule::LANGUAGE, Rule::NEGATION, Rule::CONTRASTS, Rule::WHOSE];
    if rules.iter().any(|rule| rule.is_broken(&pair)) || !in_order(&pair) {
        return false;
    }
    let [ours, theirs] = pair.sides();
    same_amounts(ours, theirs)
        && match (news(ours.0).is_empty(), news(theirs.0).is_empty()) {
            (true, true) => true,
            (true, false) => digresses(theirs.0),
            (false, true) => digresses(ours.0),
            (false, false) => false,
        }
}

/// Each amount of one history is in the other, however often.
fn same_amounts(one: (&Side<'_, '_>, &Side<'_, '_>), two: (&Side<'_, '_>, &Side<'_, '_>)) -> bool {
    [one, two].into_iter().all(|(side, other)| {
        let mut amounts = side.reading.amounts.iter().filter(|amount| !amount.soft);
        amounts.all(|amount| {
            other
                .reading
                .amounts
                .iter()
                .any(|other| amount.equals(other))
        })
    })
}

/// Tokens of substance of which the other history says nothing at all, not even once.
fn news(side: &Side<'_, '_>) -> Vec<usize> {
    let reading = side.reading;
    let known = |token: &Token| {
        let mut matched = side.tokens().filter(|(at, _)| side.partner(*at).is_some());
        matched.any(|(_, other)| reading.text(other) == reading.text(token))
    };
    let unmatched = side.unmatched().filter(|(_, token)| !known(token));
    unmatched.map(|(at, _)| at).collect()
}

/// Whether all that is new stands in sentences of its own, names nothing, and is less than half.
fn digresses(side: &Side<'_, '_>) -> bool {
    let reading = side.reading;
    let news = news(side);
    let named = news
        .iter()
        .any(|at| reading.tokens.get(*at).is_some_and(|token| token.name));
    let mut sentence = (false, false);
    let mut apart = true;
    for (at, token) in side.tokens() {
        if reading.opens(token) {
            sentence = (false, false);
        }
        let fact = side.partner(at).is_some() && (token.is_matter() || token.amount.is_some());
        sentence = (sentence.0 || fact, sentence.1 || news.contains(&at));
        apart &= sentence != (true, true);
    }
    apart && !named && news.len() * 2 <= reading.matter().count()
}

/// Everything that the user said, as one text: what the model said follows from it.
fn whole(turns: &[Turn<'_>]) -> String {
    let said = turns.iter().filter(|turn| turn.speaker == Speaker::User);
    let said: Vec<&str> = said.map(|turn| turn.text).collect();
    said.join("\n")
}

/// Facts of one kind keep their order: where two orders are spoken of, the first is the caller's.
fn in_order(pair: &Pair<'_, '_>) -> bool {
    let mut last: HashMap<Kind, usize> = HashMap::new();
    let mut facts = pair.one.tokens().filter_map(|(at, token)| {
        Some((Kind::of(pair.one.reading, token)?, pair.one.partner(at)?))
    });
    facts.all(|(kind, partner)| last.insert(kind, partner).is_none_or(|last| last < partner))
}

/// What may be taken for one another.
#[derive(PartialEq, Eq, Hash)]
enum Kind {
    Amount(Option<u16>),
    OneOf(u16),
    Name,
}

impl Kind {
    fn of(reading: &Reading<'_>, token: &Token) -> Option<Self> {
        if let Some(amount) = token.amount.and_then(|at| reading.amounts.get(at)) {
            return Some(Self::Amount(amount.unit.map(|unit| unit.dimension)));
        }
        let set = token.entry.and_then(|entry| entry.sides.first());
        let set = set.filter(|_| !token.has(Role::Function));
        set.map(|(set, _)| Self::OneOf(*set))
            .or(token.name.then_some(Self::Name))
    }
}

fn split(text: &str) -> Vec<Turn<'_>> {
    let turns = text
        .split(TURN)
        .map(|turn| match turn.strip_prefix(ASSISTANT) {
            Some(text) => Turn {
                speaker: Speaker::Assistant,
                text,
            },
            None => Turn {
                speaker: Speaker::User,
                text: turn,
            },
        });
    turns.collect()
}

// === impl Leaning ===

impl Leaning {
    fn load() -> Self {
        let mut leaning = Self {
            sections: HashMap::new(),
            continues: Vec::new(),
            requests: Vec::new(),
            existential: Vec::new(),
        };
        for (section, term) in table::sections(include_str!("data/history.txt")) {
            let words = || term.split(' ').collect();
            match section {
                "continues" => leaning.continues.push(words()),
                "request" => leaning.requests.push(words()),
                "existential" => leaning.existential.push(words()),
                _ => {
                    leaning.sections.entry(section).or_default().insert(term);
                }
            }
        }
        leaning
    }

    fn has(&self, section: &str, word: &str) -> bool {
        self.sections
            .get(section)
            .is_some_and(|words| words.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation<'t>(texts: &[&'t str]) -> Vec<Turn<'t>> {
        let speakers = [Speaker::User, Speaker::Assistant].into_iter().cycle();
        speakers
            .zip(texts)
            .map(|(speaker, text)| Turn { speaker, text })
            .collect()
    }

    fn accepts(one: &[&str], two: &[&str]) -> bool {
        let (one, two) = (conversation(one), conversation(two));
        let guard = Conversations::default();
        let verdict = guard.compare(&one, &two);
        assert_eq!(verdict, guard.compare(&two, &one));
        assert_eq!(
            verdict.is_accept(),
            guard
                .accepts(&Conversations::join(&one), &Conversations::join(&two))
                .is_accept()
        );
        verdict.is_accept()
    }

    #[test]
    fn a_question_that_stands_by_itself_does_not_care_about_the_history() {
        assert!(accepts(
            &[
                "My blender broke",
                "Sorry!",
                "Do you ship spare parts to Norway?"
            ],
            &[
                "I like your mugs",
                "Thanks!",
                "Do you ship spare parts to Norway?"
            ],
        ));
    }

    #[test]
    fn a_question_that_leans_on_the_history_needs_the_same_history() {
        let asked = ["I bought a tent from you", "Nice!", "Can I return it?"];
        assert!(!accepts(
            &asked,
            &[
                "I bought an ice cream from you",
                "Nice!",
                "Can I return it?"
            ]
        ));
        assert!(accepts(
            &asked,
            &[
                "hi, i purchased a tent from you",
                "Great.",
                "can I send it back?"
            ]
        ));
        assert!(!accepts(&asked, &["Can I return it?"]));
    }

    #[test]
    fn amounts_and_names_of_the_history_must_agree_and_keep_their_order() {
        let history = |first, second| [first, "ok", second, "ok", "where is it?"];
        assert!(!accepts(
            &history("my order is 4411", "my neighbour has 4412"),
            &history("my order is 4412", "my neighbour has 4411"),
        ));
    }

    #[test]
    fn an_assent_needs_an_equal_history() {
        let history = |offer| ["the lamp is broken", offer, "yes please"];
        assert!(!accepts(&history("A refund?"), &history("A new lamp?")));
        assert!(accepts(&history("A refund?"), &history("a refund")));
    }

    #[test]
    fn a_text_without_turns_is_a_conversation_of_one_message() {
        assert_eq!(last_message("hello"), "hello");
        let joined = Conversations::join(&conversation(&["a", "b", "c"]));
        assert_eq!(last_message(&joined), "c");
    }
}
