//! The one text of a request that semantic matching may compare.

use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

use bytes::Bytes;

use super::{Endpoint, Prompt};
use crate::json::{decode, elements, members};

/// What stands in for the text in [`Semantic::without_text`]. No JSON text contains it.
pub const MARKER: char = '\0';

/// A request split in two: the text that may differ a little, and everything else, which must be equal.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Semantic {
    /// The last message's text, or the prompt. Several text parts are joined by line feeds.
    pub text: Arc<str>,
    /// [`Prompt::canonical`] with that text replaced by [`MARKER`]: all that must agree exactly.
    pub without_text: Bytes,
}

// === impl Prompt ===

impl Prompt {
    /// The text for semantic matching; none where a similar question's answer must not be reused.
    ///
    /// There is one for a chat whose last message is the user's, in plain text or text parts, and for a completion or
    /// `/v1/generate` with one prompt string. There is none for embeddings; with tools, functions, web search, images, audio,
    /// files, `logprobs` or `echo`; with tool calls or their results anywhere in the chat; for token arrays and arrays of
    /// prompts; for an empty text. What [`sampled`](Self::sampled) and [`choices`](Self::choices) say is not considered here.
    ///
    /// Computed when asked for: exact hits do not pay for it.
    #[must_use]
    pub fn semantic(&self) -> Option<Semantic> {
        if self.exact_only {
            return None;
        }
        let text = &*self.canonical;
        let parts = match self.endpoint {
            Endpoint::ChatCompletions => chat(text)?,
            Endpoint::Completions | Endpoint::Generate => vec![value_of(text, 0, b"prompt")?],
            Endpoint::Embeddings => return None,
        };
        Semantic::split(text, &parts)
    }
}

// === impl Semantic ===

impl Semantic {
    /// Takes the strings at `parts` out of the canonical `text`.
    fn split(text: &[u8], parts: &[Range<usize>]) -> Option<Self> {
        let mut rest = Vec::with_capacity(text.len());
        let mut joined: Option<Cow<'_, str>> = None;
        let mut at = 0;
        for part in parts {
            let piece = decode(text.get(part.clone())?)?;
            joined = Some(match joined {
                None => piece,
                Some(before) => Cow::Owned(format!("{before}\n{piece}")),
            });
            rest.extend_from_slice(text.get(at..part.start)?);
            rest.push(MARKER as u8);
            at = part.end;
        }
        rest.extend_from_slice(text.get(at..)?);
        let joined = joined.filter(|text| !text.trim().is_empty())?;
        Some(Self {
            text: joined.into(),
            without_text: rest.into(),
        })
    }
}

impl fmt::Debug for Semantic {
    /// Without the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Semantic({} bytes of {})",
            self.text.len(),
            self.without_text.len()
        )
    }
}

/// Where the text of a chat's last message lies.
fn chat(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let messages = value_of(text, 0, b"messages")?;
    let mut last = None;
    for message in elements(text, messages.start) {
        last = Some(plain_message(text, message.start)?);
    }
    last?
}

/// The text parts of one message: none if it has anything but text, `Some(None)` if it is not the user's.
fn plain_message(text: &[u8], at: usize) -> Option<Option<Vec<Range<usize>>>> {
    let mut parts = Vec::new();
    let mut user = false;
    for (key, value) in members(text, at) {
        let raw = text.get(value.clone())?;
        match key {
            b"role" => match raw {
                br#""user""# => user = true,
                br#""tool""# | br#""function""# => return None,
                _ => {}
            },
            b"content" if raw.starts_with(b"\"") => parts.push(value),
            b"content" if raw.starts_with(b"[") => {
                for part in elements(text, value.start) {
                    parts.push(text_part(text, part.start)?);
                }
            }
            b"content" if raw != b"null" => return None,
            b"tool_calls" | b"function_call" | b"audio" if raw != b"null" && raw != b"[]" => {
                return None;
            }
            _ => {}
        }
    }
    Some(user.then_some(parts))
}

/// The string of a `{"type": "text", "text": …}` part.
pub(super) fn text_part(text: &[u8], at: usize) -> Option<Range<usize>> {
    let kind = value_of(text, at, b"type")?;
    let string = value_of(text, at, b"text")?;
    let is_text = text.get(kind)? == br#""text""#;
    (is_text && text.get(string.start) == Some(&b'"')).then_some(string)
}

pub(super) fn value_of(text: &[u8], at: usize, name: &[u8]) -> Option<Range<usize>> {
    members(text, at).find_map(|(key, value)| (key == name).then_some(value))
}
