//! Answers, made beforehand.

use super::Script;
use bytes::Bytes;
use std::time::Duration;

/// When the parts of an answer are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pace {
    /// From the request to the first byte.
    pub first: Duration,
    /// Tokens in the answer.
    pub tokens: usize,
    /// From token to token of a stream.
    pub between: Duration,
}

impl Pace {
    /// At once, and all of it.
    pub const AT_ONCE: Self = Self {
        first: Duration::ZERO,
        tokens: 16,
        between: Duration::ZERO,
    };
}

/// What is answered, without its framing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Text {
    /// The body of an answer that is not streamed.
    pub whole: Bytes,
    /// The events of a streamed one: one a token, with what comes before the first and after the last beside them.
    pub events: Vec<Bytes>,
}

impl Text {
    /// An answer of so many tokens.
    #[must_use]
    pub fn of(tokens: usize) -> Self {
        let token = |number: usize| format!("token{number} ");
        let said: String = (0..tokens).map(token).collect();
        let whole = format!(
            r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"bench","choices":[{{"index":0,"message":{{"role":"assistant","content":"{said}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":8,"completion_tokens":{tokens},"total_tokens":{}}}}}"#,
            tokens + 8
        );
        let chunk = |delta: &str, finish: &str| {
            format!(
                "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"bench\",\
                 \"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":{finish}}}]}}\n\n"
            )
        };
        let events = (0..tokens).map(|number| {
            let role = if number == 0 {
                "\"role\":\"assistant\","
            } else {
                ""
            };
            let mut event = chunk(&format!("{role}\"content\":\"{}\"", token(number)), "null");
            if number + 1 == tokens {
                event.push_str(&chunk("", "\"stop\""));
                event.push_str("data: [DONE]\n\n");
            }
            event.into()
        });
        Self {
            events: events.collect(),
            whole: whole.into(),
        }
    }

    /// The whole stream.
    #[must_use]
    pub fn stream(&self) -> Bytes {
        self.events.concat().into()
    }
}

/// Answers as they go over the wire.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) pace: Pace,
    pub(super) whole: Bytes,
    /// The head of a stream with its first event, then the others; in one piece where there is no pause between them.
    pub(super) stream: Vec<Bytes>,
    /// What is sent instead, whatever is asked for.
    pub(super) script: Option<Script>,
}

impl Prepared {
    pub(super) fn scripted(script: Script) -> Self {
        Self {
            script: Some(script),
            ..Self::new(Pace::AT_ONCE)
        }
    }

    pub(super) fn new(pace: Pace) -> Self {
        let text = Text::of(pace.tokens);
        let mut whole = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            text.whole.len()
        )
        .into_bytes();
        whole.extend_from_slice(&text.whole);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let last = text.events.len().saturating_sub(1);
        let frames = text.events.iter().enumerate().map(|(number, event)| {
            let mut frame = Vec::new();
            if number == 0 {
                frame.extend_from_slice(head.as_bytes());
            }
            frame.extend_from_slice(format!("{:x}\r\n", event.len()).as_bytes());
            frame.extend_from_slice(event);
            frame.extend_from_slice(if number == last {
                b"\r\n0\r\n\r\n"
            } else {
                b"\r\n"
            });
            Bytes::from(frame)
        });
        let stream: Vec<Bytes> = frames.collect();
        let stream = if pace.between.is_zero() {
            vec![stream.concat().into()]
        } else {
            stream
        };
        Self {
            pace,
            whole: whole.into(),
            stream,
            script: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_complete_answers() {
        let text = Text::of(3);
        let whole: serde_json::Value = serde_json::from_slice(&text.whole).unwrap();
        assert_eq!(
            whole["choices"][0]["message"]["content"],
            "token0 token1 token2 "
        );
        let stream = String::from_utf8(text.stream().to_vec()).unwrap();
        assert_eq!(stream.matches("data: ").count(), 5);
        assert!(stream.ends_with("\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"));
        for event in stream
            .split_terminator("\n\n")
            .filter(|event| !event.contains("[DONE]"))
        {
            serde_json::from_str::<serde_json::Value>(event.strip_prefix("data: ").unwrap())
                .unwrap();
        }
    }
}
