//! Answers of any shape and pace.

use bytes::Bytes;
use std::time::Duration;

/// An answer, part by part: what a test wants a server to say, and when.
#[derive(Clone, Debug)]
pub struct Script {
    head: Bytes,
    parts: Vec<Part>,
    is_stream: bool,
}

/// Bytes that are sent together.
#[derive(Clone, Debug)]
pub struct Part {
    after: Duration,
    content: Vec<u8>,
    cut: bool,
}

impl Script {
    /// A stream without events so far.
    #[must_use]
    pub fn stream() -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        Self {
            head: head.into(),
            parts: Vec::new(),
            is_stream: true,
        }
    }

    /// A whole chat answer of one token, in one body, after so long.
    #[must_use]
    pub fn body(after: Duration) -> Self {
        let json = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":8,"completion_tokens":1}}"#;
        Self::whole("200 OK", json, after)
    }

    /// An error of a status, at once.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::whole(
            &format!("{status} Error"),
            r#"{"error":{"message":"refused"}}"#,
            Duration::ZERO,
        )
    }

    fn whole(status: &str, json: &str, after: Duration) -> Self {
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            json.len()
        );
        let mut part = Part::after(after);
        part.content = json.into();
        Self {
            head: head.into(),
            parts: vec![part],
            is_stream: false,
        }
    }

    /// Adds a part.
    pub fn push(&mut self, part: Part) {
        self.parts.push(part);
    }

    /// What goes over the wire: each part with the time after the one before it, and whether the connection is cut behind it.
    pub(super) fn frames(&self) -> Vec<(Duration, Bytes, bool)> {
        let last = self.parts.len().saturating_sub(1);
        let frames = self.parts.iter().enumerate().map(|(number, part)| {
            let mut frame = Vec::new();
            if number == 0 {
                frame.extend_from_slice(&self.head);
            }
            match self.is_stream {
                false => frame.extend_from_slice(&part.content),
                true => {
                    frame.extend_from_slice(format!("{:x}\r\n", part.content.len()).as_bytes());
                    frame.extend_from_slice(&part.content);
                    frame.extend_from_slice(if number == last && !part.cut {
                        b"\r\n0\r\n\r\n"
                    } else {
                        b"\r\n"
                    });
                }
            }
            (part.after, frame.into(), part.cut)
        });
        frames.collect()
    }
}

impl Part {
    /// So long after the part before it, or after the request.
    #[must_use]
    pub const fn after(after: Duration) -> Self {
        Self {
            after,
            content: Vec::new(),
            cut: false,
        }
    }

    /// With a server-sent event.
    #[must_use]
    pub fn event(mut self, data: &str) -> Self {
        self.content
            .extend_from_slice(format!("data: {data}\n\n").as_bytes());
        self
    }

    /// Behind it, the connection is cut.
    #[must_use]
    pub const fn cut(mut self) -> Self {
        self.cut = true;
        self
    }
}
