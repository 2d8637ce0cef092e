//! The events of a stream, in their order.

use std::collections::VecDeque;

use bytes::Bytes;
use http::StatusCode;

use super::answer;
use super::request::{Call, Choice, Endpoint};
use super::settings::Settings;
use super::text;

/// The events of a stream: step by step, one token of every choice a step.
#[derive(Debug)]
pub(super) struct Events {
    is_chat: bool,
    head: String,
    end: &'static str,
    choices: Vec<Choice>,
    /// What comes after the last token.
    tail: Vec<String>,
    step: u32,
    steps: u32,
    pending: VecDeque<Bytes>,
}

// === impl Events ===

impl Events {
    pub(super) fn new(call: &Call, settings: &Settings) -> Self {
        let is_chat = call.endpoint == Endpoint::Chat;
        let head = answer::head(
            call,
            if is_chat {
                "chat.completion.chunk"
            } else {
                "text_completion"
            },
        );
        let choices = call.choices(settings);
        let mut tail = Vec::new();
        if call.stream.is_some_and(|stream| stream.include_usage) {
            tail.push(format!(
                r#"{head}],"usage":{}}}"#,
                answer::usage(call, &choices)
            ));
        }
        if !call.script.no_done {
            tail.push("[DONE]".to_owned());
        }
        Self {
            is_chat,
            head,
            end: if call.script.crlf { "\r\n\r\n" } else { "\n\n" },
            // An answer of no token still has its end.
            steps: choices
                .iter()
                .map(|choice| choice.tokens)
                .max()
                .unwrap_or(0)
                .max(1),
            choices,
            tail,
            step: 0,
            pending: VecDeque::new(),
        }
    }

    /// The step that the next event belongs to; `None` after the last event.
    pub(super) fn due(&self) -> Option<u32> {
        if !self.pending.is_empty() {
            return Some(self.step.saturating_sub(1));
        }
        (self.step < self.steps).then_some(self.step)
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        if self.pending.is_empty() && self.step < self.steps {
            self.fill();
        }
        self.pending.pop_front()
    }

    /// An error event.
    pub(super) fn error(&self) -> Bytes {
        self.event(&answer::error_object(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the stub was told to fail",
        ))
    }

    fn fill(&mut self) {
        let step = self.step;
        let mut pending = VecDeque::new();
        if step == 0 && self.is_chat {
            pending.extend(self.choices.iter().map(|choice| {
                self.chunk(choice, r#""delta":{"role":"assistant","content":""}"#, None)
            }));
        }
        for choice in &self.choices {
            if step < choice.tokens {
                let (space, word) = text::token(choice.seed, step);
                let piece = if self.is_chat {
                    format!(r#""delta":{{"content":"{space}{word}"}}"#)
                } else {
                    format!(r#""text":"{space}{word}""#)
                };
                pending.push_back(self.chunk(choice, &piece, None));
            }
            if step + 1 == choice.tokens.max(1) {
                let piece = if self.is_chat {
                    r#""delta":{}"#
                } else {
                    r#""text":"""#
                };
                pending.push_back(self.chunk(choice, piece, Some(&choice.finish)));
            }
        }
        self.step += 1;
        if self.step == self.steps {
            pending.extend(self.tail.iter().map(|data| self.event(data)));
        }
        self.pending = pending;
    }

    fn chunk(&self, choice: &Choice, piece: &str, finish: Option<&str>) -> Bytes {
        let finish = serde_json::Value::from(finish);
        let Self { head, .. } = self;
        let index = choice.index;
        self.event(&format!(
            r#"{head}{{"index":{index},{piece},"logprobs":null,"finish_reason":{finish}}}]}}"#
        ))
    }

    fn event(&self, data: &str) -> Bytes {
        Bytes::from(["data: ", data, self.end].concat())
    }
}
