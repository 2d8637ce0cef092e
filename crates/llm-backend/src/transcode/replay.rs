//! A body as the stream the server would have sent.

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::{
    json::{Fields, push_string},
    prompt::Endpoint,
    sse::{DONE, Encoder},
};

/// Whether a stream ends by telling the usage: what the caller asked for with `stream_options.include_usage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IncludeUsage {
    /// Not asked for: no chunk has any.
    No,
    /// Asked for: one more chunk, without choices, has it.
    Yes,
}

impl From<bool> for IncludeUsage {
    fn from(asked: bool) -> Self {
        if asked { Self::Yes } else { Self::No }
    }
}

/// Top-level fields that every chunk has. All others come with the last finish.
const EVERYWHERE: [&str; 6] = [
    "id",
    "object",
    "created",
    "model",
    "system_fingerprint",
    "service_tier",
];

/// The stream that the server would have sent instead of this body, in few large chunks.
///
/// None where there is no such stream: for an endpoint that does not stream, an error, a choice without a `finish_reason`, a
/// body without usage where usage is asked for.
#[must_use]
pub fn to_stream(
    endpoint: Endpoint,
    body: &[u8],
    include_usage: impl Into<IncludeUsage>,
) -> Option<Bytes> {
    let choice_chunks = match endpoint {
        Endpoint::ChatCompletions => chat_choice,
        Endpoint::Completions => text_choice,
        Endpoint::Embeddings | Endpoint::Generate => return None,
    };
    let answer = Fields::parse(body)?;
    if answer.get("error").is_some() {
        return None;
    }
    let usage = match include_usage.into() {
        IncludeUsage::Yes => Some(answer.get("usage")?),
        IncludeUsage::No => None,
    };
    let choices = answer
        .array("choices")
        .filter(|choices| !choices.is_empty())?;
    let mut chunks = Chunks::new(endpoint, &answer, body.len());
    let last = choices.len() - 1;
    for (i, choice) in choices.into_iter().enumerate() {
        choice_chunks(&mut chunks, &Fields::of(choice)?, i == last)?;
    }
    if let Some(usage) = usage {
        let usage = Members::new().raw("usage", usage.get());
        chunks.push("", &usage.0);
    }
    Encoder.data(DONE, &mut chunks.out);
    Some(chunks.out.into())
}

/// Role, reasoning, content and the rest, tools, finish.
fn chat_choice(chunks: &mut Chunks, choice: &Fields<'_>, last: bool) -> Option<()> {
    let message = Fields::of(choice.get("message")?)?;
    let mut first = Members::new();
    match message.get("role") {
        Some(role) => first = first.raw("role", role.get()),
        None => first = first.raw("role", "\"assistant\""),
    }
    if message.string("content").is_some() {
        first = first.raw("content", "\"\"");
    }
    let (mut reasoning, mut content, mut tools) = (Members::new(), Members::new(), Members::new());
    for (key, value) in &message.0 {
        let null = value.get() == "null";
        match &**key {
            "role" => {}
            "reasoning" | "reasoning_content" if !null => {
                reasoning = reasoning.raw(key, value.get());
            }
            "tool_calls" if !null => tools = tools.raw(key, &indexed(value)?),
            "function_call" if !null => tools = tools.raw(key, value.get()),
            _ => content = content.raw(key, value.get()),
        }
    }
    let index = choice.get("index").map_or("0", |index| index.get());
    let part = |delta: Members| {
        Members::new()
            .raw("index", index)
            .raw("delta", &delta.object())
            .raw("finish_reason", "null")
    };
    chunks.push(&part(first).object(), "");
    if !reasoning.is_empty() {
        chunks.push(&part(reasoning).object(), "");
    }
    let logprobs = choice.get("logprobs");
    if !content.is_empty() || logprobs.is_some() {
        let mut content = part(content);
        if let Some(logprobs) = logprobs {
            content = content.raw("logprobs", logprobs.get());
        }
        chunks.push(&content.object(), "");
    }
    if !tools.is_empty() {
        chunks.push(&part(tools).object(), "");
    }
    let end = Members::new().raw("index", index).raw("delta", "{}");
    finish(chunks, choice, end, last)
}

/// Text, finish.
fn text_choice(chunks: &mut Chunks, choice: &Fields<'_>, last: bool) -> Option<()> {
    let index = choice.get("index").map_or("0", |index| index.get());
    let text = choice.get("text")?;
    let mut part = Members::new().raw("index", index).raw("text", text.get());
    if let Some(logprobs) = choice.get("logprobs") {
        part = part.raw("logprobs", logprobs.get());
    }
    chunks.push(&part.raw("finish_reason", "null").object(), "");
    let end = Members::new().raw("index", index).raw("text", "\"\"");
    finish(chunks, choice, end, last)
}

/// The chunk with the `finish_reason` and everything else that is said about a choice.
fn finish(chunks: &mut Chunks, choice: &Fields<'_>, mut end: Members, last: bool) -> Option<()> {
    choice.get("finish_reason")?;
    for (key, value) in &choice.0 {
        let said = match &**key {
            "index" | "message" | "text" => true,
            "logprobs" => value.get() != "null",
            _ => false,
        };
        if !said {
            end = end.raw(key, value.get());
        }
    }
    let rest = if last {
        std::mem::take(&mut chunks.rest)
    } else {
        String::new()
    };
    chunks.push(&end.object(), &rest);
    Some(())
}

/// Tool calls with the `index` that deltas have and bodies do not.
fn indexed(calls: &RawValue) -> Option<String> {
    let calls: Vec<&RawValue> = serde_json::from_str(calls.get()).ok()?;
    let mut out = String::from("[");
    for (i, call) in calls.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let fields = Fields::of(call)?;
        let mut members = Members::new();
        if fields.get("index").is_none() {
            members = members.raw("index", &i.to_string());
        }
        for (key, value) in &fields.0 {
            members = members.raw(key, value.get());
        }
        out.push_str(&members.object());
    }
    out.push(']');
    Some(out)
}

/// The stream so far.
struct Chunks {
    out: Vec<u8>,
    /// The members that every chunk begins with.
    base: String,
    /// The members that the last finish carries.
    rest: String,
}

// === impl Chunks ===

impl Chunks {
    fn new(endpoint: Endpoint, answer: &Fields<'_>, size: usize) -> Self {
        let (mut base, mut rest) = (Members::new(), Members::new());
        for (key, value) in &answer.0 {
            match &**key {
                "choices" | "usage" => {}
                "object" if endpoint == Endpoint::ChatCompletions => {
                    base = base.raw(key, "\"chat.completion.chunk\"");
                }
                key if EVERYWHERE.contains(&key) => base = base.raw(key, value.get()),
                key => rest = rest.raw(key, value.get()),
            }
        }
        Self {
            out: Vec::with_capacity(size * 2 + 512),
            base: base.0,
            rest: rest.0,
        }
    }

    /// One chunk with this choice, or none, and these further members.
    fn push(&mut self, choice: &str, members: &str) {
        let mut chunk = Members(self.base.clone())
            .raw("choices", &format!("[{choice}]"))
            .0;
        if !members.is_empty() {
            chunk.push(',');
            chunk.push_str(members);
        }
        // Outside of strings a line end is white space, and in strings there is none. Many readers take only one line.
        let chunk = chunk.replace(['\n', '\r'], " ");
        Encoder.data(format!("{{{chunk}}}").as_bytes(), &mut self.out);
    }
}

/// The members of an object that is being written.
struct Members(String);

// === impl Members ===

impl Members {
    const fn new() -> Self {
        Self(String::new())
    }

    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn raw(mut self, key: &str, value: &str) -> Self {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        let mut quoted = Vec::with_capacity(key.len() + 2);
        push_string(&mut quoted, key);
        self.0.push_str(&String::from_utf8_lossy(&quoted));
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    fn object(&self) -> String {
        format!("{{{}}}", self.0)
    }
}
