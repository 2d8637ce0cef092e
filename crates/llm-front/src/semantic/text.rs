//! What of a request is compared by similarity.

use super::Asks;
use crate::config::types::History;
use bytes::Bytes;
use llm_backend::prompt::{self, Prompt};
use std::sync::Arc;
use tower_semcache::guard::{self, Conversations, Route, Speaker, last_message};

/// A request split in two.
pub(crate) struct Compared {
    /// What may differ: a text, or a conversation in one.
    pub(crate) text: Arc<str>,
    /// All that must be equal.
    pub(crate) around: Bytes,
}

/// What keeps turns apart in a text that holds a conversation.
const SEPARATORS: [char; 2] = ['\u{1e}', '\u{1f}'];

impl Asks {
    /// What of this request is compared; none where no similar request's answer would do, nor its own for another.
    pub(crate) fn compared(&self, prompt: &Prompt) -> Option<Compared> {
        let compared = match self.history {
            History::Equal => last_text(prompt),
            History::Guarded => conversation(prompt).or_else(|| {
                // What looks like several turns must not be taken for them.
                last_text(prompt).filter(|one| !one.text.contains(SEPARATORS))
            }),
        }?;
        let asked = match self.history {
            History::Equal => &*compared.text,
            History::Guarded => last_message(&compared.text),
        };
        let admitted = !self.routes || Route::of(asked) == Route::Semantic;
        admitted.then_some(compared)
    }
}

fn last_text(prompt: &Prompt) -> Option<Compared> {
    let semantic = prompt.semantic()?;
    Some(Compared {
        text: semantic.text,
        around: semantic.without_text,
    })
}

fn conversation(prompt: &Prompt) -> Option<Compared> {
    let conversation = prompt.conversation()?;
    let turns: Vec<_> = conversation
        .turns
        .iter()
        .map(|turn| guard::Turn {
            speaker: match turn.speaker {
                prompt::Speaker::User => Speaker::User,
                prompt::Speaker::Assistant => Speaker::Assistant,
            },
            text: &turn.text,
        })
        .collect();
    let ambiguous = turns.iter().any(|turn| turn.text.contains(SEPARATORS));
    (!ambiguous).then(|| Compared {
        text: Conversations::join(&turns).into(),
        around: conversation.without_turns,
    })
}

/// What is to be answered.
pub(super) fn last(text: Arc<str>) -> Arc<str> {
    match last_message(&text) {
        last if last.len() == text.len() => text,
        last => last.into(),
    }
}

/// A conversation as people read it.
pub(crate) fn shown(text: &str) -> String {
    text.replace(SEPARATORS[0], "\n---\n")
        .replace(SEPARATORS[1], "(answer) ")
}
