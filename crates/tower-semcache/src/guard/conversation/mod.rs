//! Whole conversations: when the answer to one may serve the other.

mod history;
mod leaning;

#[cfg(test)]
mod tests;

pub use leaning::stands_alone;

use super::{Guard, Guards, Verdict};
use crate::matching::Similarity;

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
pub struct Conversations<G = Guards> {
    guard: G,
}

/// The rule by which histories are rejected.
const RULE: &str = "history";

/// Separates turns in a text that holds a conversation.
const TURN: char = '\u{1e}';
const ASSISTANT: char = '\u{1f}';

// === impl Conversations ===

impl<G> Conversations<G> {
    /// Compares last messages under `guard`.
    #[must_use]
    pub const fn new(guard: G) -> Self {
        Self { guard }
    }
}

impl<G> Conversations<G>
where
    G: Guard,
{
    /// Compares two conversations whose last turn is the one to be answered.
    #[must_use]
    pub fn compare(&self, asked: &[Turn<'_>], cached: &[Turn<'_>]) -> Verdict {
        compare(asked, cached, |last, other| self.guard.accepts(last, other))
    }
}

impl Conversations {
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

impl<G> Guard for Conversations<G>
where
    G: Guard,
{
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        self.compare(&split(asked), &split(cached))
    }

    fn accepts_at(&self, asked: &str, cached: &str, similarity: Similarity) -> Verdict {
        compare(&split(asked), &split(cached), |last, other| {
            self.guard.accepts_at(last, other, similarity)
        })
    }
}

fn compare(
    asked: &[Turn<'_>],
    cached: &[Turn<'_>],
    guard: impl FnOnce(&str, &str) -> Verdict,
) -> Verdict {
    let (Some((last, before)), Some((other, earlier))) = (asked.split_last(), cached.split_last())
    else {
        return Verdict::accept_unless(asked.len() != cached.len(), RULE);
    };
    let verdict = guard(last.text, other.text);
    if !verdict.is_accept() || history::equal(before, earlier) {
        return verdict;
    }
    if stands_alone(last.text) && stands_alone(other.text) {
        return Verdict::Accept;
    }
    let asks = leaning::asks(last.text) && leaning::asks(other.text);
    Verdict::accept_unless(!(asks && history::agree(before, earlier)), RULE)
}

/// What is to be answered: the last turn of a [joined](Conversations::join) conversation. A text
/// that is no conversation is its own last message.
#[must_use]
pub fn last_message(text: &str) -> &str {
    let last = text.rsplit(TURN).next().unwrap_or(text);
    last.trim_start_matches(ASSISTANT)
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
