//! Whole conversations: when the answer to one may serve the other.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::pair::Pair;
use super::reading::Reading;
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
/// * A last message that leans on the history needs the same history: the same amounts and names
///   in the order of their first mention, no contrast between them, and hardly any word of
///   substance that only one of them has. An assent ("yes please", "the second one") needs an equal
///   history.
#[derive(Clone, Debug, Default)]
pub struct Conversations {
    guards: Guards,
}

/// The words of `history.txt`.
struct Leaning {
    sections: HashMap<&'static str, HashSet<&'static str>>,
    continues: Vec<Vec<&'static str>>,
    requests: Vec<Vec<&'static str>>,
}

/// Words of substance in a message that stands by itself: with someone or something named, without.
const ENOUGH: [usize; 2] = [2, 4];

/// The share of its words of substance that a history must have in common with the other.
const SHARED: f64 = 0.8;

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
        let agree = !is_assent(last.text) && !is_assent(other.text) && agree(before, earlier);
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
    let words = Words::new(message);
    let words: Vec<&str> = words.texts().collect();
    let has = |section: &str| words.iter().any(|word| leaning.has(section, word));
    let opens = |patterns: &[Vec<&str>]| patterns.iter().any(|pattern| words.starts_with(pattern));
    if has("refers")
        || has("asker")
        || opens(&leaning.continues)
        || opens(&leaning.requests)
        || bare_definite(&words)
    {
        return false;
    }
    let reading = Reading::new(message);
    let matter = reading.matter().count() + reading.amounts.len();
    let named = has("asked") || reading.matter().any(|(_, token)| token.name);
    let [named_enough, enough] = ENOUGH;
    reading.covered && matter >= if named { named_enough } else { enough }
}

/// "the cost" without saying of what: it was said before.
fn bare_definite(words: &[&str]) -> bool {
    let leaning = &*LEANING;
    let mut articles = words
        .iter()
        .enumerate()
        .filter(|(_, word)| leaning.has("article", word));
    articles.any(|(at, _)| {
        let mut rest = words.iter().skip(at + 1);
        !rest.any(|word| leaning.has("complement", word))
    })
}

/// A message that says nothing by itself.
fn is_assent(message: &str) -> bool {
    let reading = Reading::new(message);
    let leaning = |token| LEANING.has("refers", reading.text(token));
    reading.matter().all(|(_, token)| leaning(token))
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

/// Whether two histories say the same, whoever of the two speakers says it.
fn agree(one: &[Turn<'_>], two: &[Turn<'_>]) -> bool {
    let (one, two) = (whole(one), whole(two));
    let (one, two) = (one.as_str().min(&two), one.as_str().max(&two));
    let (one, two) = (Reading::new(one), Reading::new(two));
    let pair = Pair::new(&one, &two);
    let rules = [
        Rule::LANGUAGE,
        Rule::AMOUNTS,
        Rule::CONTRASTS,
        Rule::NAMES,
        Rule::WHOSE,
    ];
    if rules.iter().any(|rule| rule.is_broken(&pair)) || !in_order(&pair) {
        return false;
    }
    pair.sides().into_iter().all(|(side, _)| {
        let all = side.reading.matter().count();
        let shared = all - side.unmatched().count();
        shared as f64 >= SHARED * all as f64
    })
}

/// Everything that the user said, as one text: what the model said follows from it.
fn whole(turns: &[Turn<'_>]) -> String {
    let said = turns.iter().filter(|turn| turn.speaker == Speaker::User);
    let said: Vec<&str> = said.map(|turn| turn.text).collect();
    said.join("\n")
}

/// Amounts and names have one order: where two orders are spoken of, the first is the caller's.
fn in_order(pair: &Pair<'_, '_>) -> bool {
    let mut last = 0;
    let facts = pair
        .one
        .tokens()
        .filter(|(_, token)| token.amount.is_some() || token.name);
    let mut partners = facts.filter_map(|(at, _)| pair.one.partner(at));
    partners.all(|partner| {
        let ordered = partner >= last;
        last = partner;
        ordered
    })
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
        };
        for (section, term) in table::sections(include_str!("data/history.txt")) {
            let words = || term.split(' ').collect();
            match section {
                "continues" => leaning.continues.push(words()),
                "request" => leaning.requests.push(words()),
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
