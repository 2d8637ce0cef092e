//! Is this answer whole? Only whole answers may be stored and told again.
//!
//! Whole is: status 200, a body that ended where it should, no error in it, and every choice ended of its own accord:
//! `stop`, `tool_calls` or `function_call`. An answer cut by `length` or a filter is an answer, but not *the* answer. A stream
//! need not say `[DONE]`: not every server does. Embeddings are whole with all their vectors, the answer of `/v1/generate` if its one
//! text ended of its own accord. Which of these an answer is shows in itself, so nobody need remember what was asked.
//!
//! # Examples
//!
//! ```
//! use http::{HeaderValue, StatusCode};
//! use llm_backend::complete::is_complete;
//!
//! let json = HeaderValue::from_static("application/json");
//! let complete = |body: &'static str| is_complete(StatusCode::OK, Some(&json), &body.into());
//! assert!(complete(r#"{"choices":[{"index":0,"finish_reason":"stop"}]}"#));
//! assert!(!complete(r#"{"choices":[{"index":0,"finish_reason":"length"}]}"#));
//! assert!(!complete(r#"{"choices":[{"index":0,"finish_"#));
//! ```
//!
//! A stream, as its events pass:
//!
//! ```
//! use llm_backend::{complete::Progress, sse::Event};
//!
//! let mut progress = Progress::new();
//! progress.event(&Event::new(r#"{"choices":[{"index":0,"delta":{"content":"Hi"}}]}"#));
//! assert!(!progress.is_complete());
//! progress.event(&Event::new(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#));
//! assert!(progress.is_complete());
//! ```

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::sse::{Decoder, Event};

mod usual;

/// Whether an answer is whole. See the [module docs](self).
///
/// The content type decides how `body` is read: `application/json` or `text/event-stream`. Anything else is never whole.
#[must_use]
pub fn is_complete(status: StatusCode, content_type: Option<&HeaderValue>, body: &Bytes) -> bool {
    if status != StatusCode::OK {
        return false;
    }
    match Form::of(content_type) {
        Some(Form::Body) => body_is_complete(body),
        Some(Form::Stream) => stream_is_complete(body),
        None => false,
    }
}

/// How an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One JSON text.
    Body,
    /// A stream of events.
    Stream,
}

// === impl Form ===

impl Form {
    /// What a content type says, parameters aside.
    #[must_use]
    pub fn of(content_type: Option<&HeaderValue>) -> Option<Self> {
        let essence = content_type?.to_str().ok()?.split(';').next()?.trim();
        if essence.eq_ignore_ascii_case("application/json") {
            Some(Self::Body)
        } else if essence.eq_ignore_ascii_case("text/event-stream") {
            Some(Self::Stream)
        } else {
            None
        }
    }
}

/// How far a stream has come, event by event.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    failed: bool,
    /// Whether the choice of that index has ended as it should.
    choices: Vec<Option<bool>>,
}

// === impl Progress ===

impl Progress {
    /// More choices than any server makes; a stream with an index above is not followed.
    const MAX_CHOICES: usize = 4096;

    /// Nothing seen yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            failed: false,
            choices: Vec::new(),
        }
    }

    /// Takes note of one event.
    pub fn event(&mut self, event: &Event) {
        if event.is_done() || event.data.is_empty() {
            return;
        }
        let chunk = serde_json::from_slice::<Option<Answer<'_>>>(&event.data);
        let named_error = event.name.as_deref() == Some(b"error");
        match chunk {
            // llama.cpp begins the stream of an array of prompts with `data: null`.
            Ok(None) => self.failed |= named_error,
            Ok(Some(chunk)) => {
                self.failed |= named_error || chunk.is_error();
                for choice in chunk.choices.unwrap_or_default() {
                    self.choice(&choice);
                }
            }
            Err(_) => self.failed = true,
        }
    }

    fn choice(&mut self, choice: &Choice<'_>) {
        let index = choice.index.unwrap_or(0);
        if index >= Self::MAX_CHOICES {
            self.failed = true;
            return;
        }
        if self.choices.len() <= index {
            self.choices.resize(index + 1, None);
        }
        if let Some(seen) = self.choices.get_mut(index) {
            match choice.finish_reason {
                Some(_) => *seen = Some(choice.is_accepted()),
                None => *seen = seen.or(Some(false)),
            }
        }
    }

    /// Whether the answer is whole if the stream ends here, at the end of an event.
    ///
    /// Every index up to the highest one seen must have been seen: one that is missing never began.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.failed && !self.choices.is_empty() && self.choices.iter().all(|c| *c == Some(true))
    }
}

fn stream_is_complete(body: &Bytes) -> bool {
    let mut input = body.clone();
    let mut decoder = Decoder::with_limit(usize::MAX);
    let mut progress = Progress::new();
    while let Ok(Some(event)) = decoder.decode(&mut input) {
        progress.event(&event);
    }
    let boundary = decoder.is_boundary();
    if let Some(event) = decoder.finish().and_then(|block| block.event()) {
        progress.event(&event);
    }
    boundary && progress.is_complete()
}

fn body_is_complete(body: &[u8]) -> bool {
    usual::is_plainly_whole(body) || read_is_complete(body)
}

/// The same, by reading the body: for errors, for what is not whole, and for the forms that are rare.
fn read_is_complete(body: &[u8]) -> bool {
    let Ok(answer) = serde_json::from_slice::<Answer<'_>>(body) else {
        return false;
    };
    if answer.is_error() {
        return false;
    }
    match answer {
        Answer {
            choices: Some(all), ..
        } => !all.is_empty() && all.iter().all(Choice::is_accepted),
        Answer {
            data: Some(data), ..
        } => !data.is_empty() && data.iter().all(|datum| datum.embedding.is_some()),
        // The front end's own form has one text, and no choices.
        Answer {
            text: Some(_),
            finish_reason,
            ..
        } => is_accepted(finish_reason.as_deref()),
        _ => false,
    }
}

/// The parts of any answer, or of one event, that say whether it is whole.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    object: Option<Cow<'a, str>>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    data: Option<Vec<Datum<'a>>>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<usize>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Datum<'a> {
    #[serde(borrow)]
    embedding: Option<&'a RawValue>,
}

// === impl Answer ===

impl Answer<'_> {
    /// Whether it is an error, in the form of today or that of older vLLM (`"object": "error"`).
    fn is_error(&self) -> bool {
        self.error.is_some() || self.object.as_deref() == Some("error")
    }
}

// === impl Choice ===

impl Choice<'_> {
    fn is_accepted(&self) -> bool {
        is_accepted(self.finish_reason.as_deref())
    }
}

fn is_accepted(finish_reason: Option<&str>) -> bool {
    matches!(finish_reason, Some("stop" | "tool_calls" | "function_call"))
}

#[cfg(test)]
mod tests;
