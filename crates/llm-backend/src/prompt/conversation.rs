//! What was said in a chat, for whoever can compare whole conversations.

use std::{borrow::Cow, fmt, ops::Range};

use bytes::Bytes;

use super::semantic::{MARKER, text_part, value_of};
use super::{Endpoint, Prompt};
use crate::json::{decode, elements, members};

/// A chat split in two: what was said after its instructions, and everything else, which must be equal.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conversation {
    /// What was said, in its order. The last turn is the user's.
    pub turns: Vec<Turn>,
    /// [`Prompt::canonical`] with all these messages replaced by one [`MARKER`].
    pub without_turns: Bytes,
}

/// One message.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// Whose it is.
    pub speaker: Speaker,
    /// Its text. Several text parts are joined by line feeds.
    pub text: String,
}

/// Who speaks in a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The caller.
    User,
    /// The model.
    Assistant,
}

// === impl Prompt ===

impl Prompt {
    /// The conversation of a chat; none where its messages can only be compared whole.
    ///
    /// There is one where [`semantic`](Self::semantic) finds a text, instructions (`system`, `developer`) come first and only
    /// there, and all other messages are plain text of the user's or the assistant's, with no field but `role` and `content`.
    ///
    /// Computed when asked for.
    #[must_use]
    pub fn conversation(&self) -> Option<Conversation> {
        if self.exact_only || self.endpoint != Endpoint::ChatCompletions {
            return None;
        }
        let text = &*self.canonical;
        let messages = value_of(text, 0, b"messages")?;
        let mut turns: Vec<Turn> = Vec::new();
        let mut whole: Option<Range<usize>> = None;
        for message in elements(text, messages.start) {
            match Message::read(text, message.start)? {
                Message::Instruction if turns.is_empty() => {}
                Message::Instruction => return None,
                Message::Turn(turn) => {
                    let start = whole.map_or(message.start, |whole| whole.start);
                    whole = Some(start..message.end);
                    turns.push(turn);
                }
            }
        }
        let whole = whole?;
        let last = turns.last()?;
        if last.speaker != Speaker::User || last.text.trim().is_empty() {
            return None;
        }
        let before = text.get(..whole.start)?;
        let after = text.get(whole.end..)?;
        let without_turns = [before, &[MARKER as u8], after].concat().into();
        Some(Conversation {
            turns,
            without_turns,
        })
    }
}

enum Message {
    Instruction,
    Turn(Turn),
}

impl Message {
    fn read(text: &[u8], at: usize) -> Option<Self> {
        let (mut role, mut content) = (None, None);
        for (key, value) in members(text, at) {
            match key {
                b"role" => role = text.get(value),
                b"content" => content = Some(value),
                // An instruction stays where it is, whatever it has.
                _ if role.is_some_and(is_instruction) => {}
                _ => return None,
            }
        }
        let speaker = match role? {
            br#""user""# => Speaker::User,
            br#""assistant""# => Speaker::Assistant,
            role if is_instruction(role) => return Some(Self::Instruction),
            _ => return None,
        };
        let said = said(text, content?)?;
        Some(Self::Turn(Turn {
            speaker,
            text: said,
        }))
    }
}

fn is_instruction(role: &[u8]) -> bool {
    matches!(role, br#""system""# | br#""developer""#)
}

/// The text of a message's content.
fn said(text: &[u8], content: Range<usize>) -> Option<String> {
    if text.get(content.start) == Some(&b'"') {
        return decode(text.get(content)?).map(Cow::into_owned);
    }
    if text.get(content.start) != Some(&b'[') {
        return None;
    }
    let mut said = String::new();
    for (at, part) in elements(text, content.start).enumerate() {
        if at > 0 {
            said.push('\n');
        }
        said.push_str(&decode(text.get(text_part(text, part.start)?)?)?);
    }
    Some(said)
}

// === impl Conversation ===

impl fmt::Debug for Conversation {
    /// Without the texts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Conversation({} turns)", self.turns.len())
    }
}

impl fmt::Debug for Turn {
    /// Without the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({} bytes)", self.speaker, self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(messages: &str) -> Option<Conversation> {
        let body = format!(r#"{{"model":"m","messages":[{messages}]}}"#);
        let prompt = Prompt::parse(Endpoint::ChatCompletions, &Bytes::from(body));
        prompt.expect("a chat").conversation()
    }

    #[test]
    fn turns_are_what_was_said_after_the_instructions() {
        let found = conversation(
            r#"{"role":"system","content":"Be brief."},{"role":"user","content":"H\u0069"},
               {"role":"assistant","content":"Hello"},
               {"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#,
        )
        .expect("a conversation");
        let turns: Vec<_> = found
            .turns
            .iter()
            .map(|turn| (turn.speaker, turn.text.as_str()))
            .collect();
        assert_eq!(
            turns,
            [
                (Speaker::User, "Hi"),
                (Speaker::Assistant, "Hello"),
                (Speaker::User, "one\ntwo")
            ]
        );
        let rest = format!(
            r#"{{"messages":[{{"content":"Be brief.","role":"system"}},{MARKER}],"model":"m"}}"#
        );
        assert_eq!(found.without_turns, rest);
    }

    #[test]
    fn what_is_more_than_plain_talk_is_none() {
        let user = r#"{"role":"user","content":"Hi"}"#;
        for messages in [
            r#"{"role":"system","content":"Be brief."}"#.to_owned(),
            format!(r#"{user},{{"role":"assistant","content":"Hello"}}"#),
            format!(r#"{user},{{"role":"system","content":"Be brief."}},{user}"#),
            r#"{"role":"user","content":"Hi","name":"ada"}"#.to_owned(),
            r#"{"role":"user","content":" "}"#.to_owned(),
            r#"{"role":"user","content":null}"#.to_owned(),
            r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}"#
                .to_owned(),
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{{}}]}},{user}"#),
            format!(r#"{{"role":"tool","content":"5"}},{user}"#),
        ] {
            assert_eq!(conversation(&messages), None, "{messages}");
        }
    }
}
