//! A stream as the body the server would have sent.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{
    Error, Kind,
    tree::{Map, Rules, Tree},
};
use crate::{
    json::Fields,
    prompt::Endpoint,
    sse::{Decoder, Event},
};

/// The body that the server would have sent instead of this stream. None where it cannot be told: no usage, no finish, an error
/// event, a stream that was cut. See the [module docs](super).
#[must_use]
pub fn aggregate(endpoint: Endpoint, stream: &Bytes) -> Option<Bytes> {
    let mut aggregator = Aggregator::new(endpoint);
    aggregator.push(stream.clone()).ok()?;
    aggregator.finish().ok()
}

/// Puts a stream together while it arrives. See the [module docs](super).
///
/// ```
/// use bytes::Bytes;
/// use llm_backend::{prompt::Endpoint::ChatCompletions, transcode::{Aggregator, Usage}};
///
/// let mut aggregator = Aggregator::new(ChatCompletions).usage(Usage::Optional);
/// aggregator.push(Bytes::from("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"H"))?;
/// aggregator.push(Bytes::from("i\"},\"finish_reason\":\"length\"}]}\n\n"))?;
/// let body = aggregator.finish()?;
/// assert_eq!(body, r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"length"}]}"#);
/// # Ok::<(), llm_backend::transcode::Error>(())
/// ```
#[derive(Debug)]
pub struct Aggregator {
    chat: bool,
    usage: Usage,
    limit: usize,
    decoder: Decoder,
    /// All fields but `choices`, whose place it keeps.
    top: Map,
    /// Sorted by index.
    choices: Vec<Choice>,
    told_usage: bool,
    done: bool,
    size: usize,
    failed: Option<Error>,
}

/// Whether a stream without usage makes a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Usage {
    /// No: bodies always tell the usage.
    #[default]
    Required,
    /// Yes, one without usage: for a server that does not know `include_usage`.
    Optional,
}

#[derive(Debug)]
struct Choice {
    index: u64,
    finished: bool,
    fields: Map,
}

// === impl Aggregator ===

impl Aggregator {
    /// The most bytes of data that are put together, unless [`limit`](Self::limit) says otherwise: 64 MiB.
    pub const DEFAULT_LIMIT: usize = 64 << 20;

    /// For the stream of one answer.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        let streams = matches!(endpoint, Endpoint::ChatCompletions | Endpoint::Completions);
        Self {
            chat: endpoint == Endpoint::ChatCompletions,
            usage: Usage::default(),
            limit: Self::DEFAULT_LIMIT,
            decoder: Decoder::new(),
            top: Map::default(),
            choices: Vec::new(),
            told_usage: false,
            done: false,
            size: 0,
            failed: (!streams).then(|| Error::new(Kind::Endpoint)),
        }
    }

    /// Whether usage must be told.
    #[must_use]
    pub const fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// The most bytes of data, all events together, that are put together. The body is never larger than that.
    #[must_use]
    pub const fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Takes the next chunk of the stream.
    ///
    /// # Errors
    ///
    /// With the first thing that makes a body impossible; then always. An error that the server reports within the stream is
    /// one: [`Kind::Upstream`].
    pub fn push(&mut self, chunk: Bytes) -> Result<(), Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = self.push_chunk(chunk);
        self.failed = result.as_ref().err().cloned();
        result
    }

    fn push_chunk(&mut self, mut chunk: Bytes) -> Result<(), Error> {
        while let Some(event) = self.decoder.decode(&mut chunk)? {
            self.event(&event)?;
        }
        Ok(())
    }

    /// The body, once the stream has ended.
    ///
    /// # Errors
    ///
    /// What [`push`](Self::push) said; [`Kind::Unfinished`] if the answer is not whole; [`Kind::NoUsage`]. An answer that `length`
    /// or a filter cut is whole here: the server would have sent it.
    pub fn finish(mut self) -> Result<Bytes, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let boundary = self.decoder.is_boundary();
        if let Some(event) = self.decoder.finish().and_then(|block| block.event()) {
            self.event(&event)?;
        }
        let finished = !self.choices.is_empty() && self.choices.iter().all(|c| c.finished);
        if !boundary || !finished {
            return Err(Error::new(Kind::Unfinished));
        }
        if !self.told_usage {
            if self.usage == Usage::Required {
                return Err(Error::new(Kind::NoUsage));
            }
            self.top.0.retain(|(key, _)| key != "usage");
        }
        Ok(self.render())
    }

    fn event(&mut self, event: &Event) -> Result<(), Error> {
        let data = &event.data;
        self.size = self.size.saturating_add(data.len());
        if self.size > self.limit {
            return Err(Error::new(Kind::TooLarge));
        }
        if event.name.as_deref() == Some(b"error") {
            return Err(Error::event_error(Kind::Upstream, data.clone()));
        }
        self.done |= event.is_done();
        if self.done || data.is_empty() || data == "null" {
            return Ok(());
        }
        let malformed = || Error::event_error(Kind::Malformed, data.clone());
        let chunk = Fields::parse(data).ok_or_else(malformed)?;
        // The second is how older vLLM says it.
        if chunk.get("error").is_some() || chunk.string("object").as_deref() == Some("error") {
            return Err(Error::event_error(Kind::Upstream, data.clone()));
        }
        for (key, value) in &chunk.0 {
            self.top_level(key, value).ok_or_else(malformed)?;
        }
        Ok(())
    }

    fn top_level(&mut self, key: &str, value: &RawValue) -> Option<()> {
        let null = value.get() == "null";
        match key {
            "choices" => {
                self.top.entry(key);
                let choices: Option<Vec<&RawValue>> = serde_json::from_str(value.get()).ok()?;
                for choice in choices.unwrap_or_default() {
                    self.choice(choice)?;
                }
            }
            "object" if !null => {
                *self.top.entry(key) = Tree::Raw(value.get().replace(".chunk\"", "\""));
            }
            "obfuscation" => {}
            "id" | "created" | "model" if self.top.get(key).is_some() => {}
            _ => {
                self.told_usage |= key == "usage" && !null;
                let entry = self.top.entry(key);
                if !null {
                    *entry = Tree::of(value);
                }
            }
        }
        Some(())
    }

    fn choice(&mut self, raw: &RawValue) -> Option<()> {
        let fields = Fields::of(raw)?;
        let index = if fields.get("index").is_some() {
            fields.integer("index")?
        } else {
            0
        };
        let at = self
            .choices
            .binary_search_by_key(&index, |choice| choice.index);
        if let Err(at) = at {
            let choice = Choice {
                index,
                finished: false,
                fields: Map::default(),
            };
            self.choices.insert(at, choice);
        }
        let choice = self.choices.get_mut(at.unwrap_or_else(|at| at))?;
        choice.finished |= fields.get("finish_reason").is_some();
        for (key, value) in &fields.0 {
            match &**key {
                "delta" if self.chat => {
                    let message = choice.fields.entry("message").as_map()?;
                    let delta: Option<Fields<'_>> = serde_json::from_str(value.get()).ok()?;
                    message.add_all(&delta.unwrap_or_default(), Rules::Delta, 0);
                }
                "text" => choice.fields.add(key, value, Rules::Delta, 0),
                _ => choice.fields.add(key, value, Rules::Choice, 0),
            }
        }
        Some(())
    }

    fn render(mut self) -> Bytes {
        let mut choices = Vec::with_capacity(self.choices.len());
        for mut choice in self.choices {
            let message = if self.chat {
                choice.fields.entry("message").as_map()
            } else {
                None
            };
            if let Some(message) = message {
                if message.get("role").is_none() {
                    let role = Tree::Raw("\"assistant\"".to_owned());
                    message.0.insert(0, ("role".to_owned(), role));
                }
                message.entry("content");
                if message.get("tool_calls").is_some() {
                    message.entry("tool_calls").settle_indices();
                }
            }
            choices.push(Tree::Map(choice.fields));
        }
        *self.top.entry("choices") = Tree::List(choices);
        let mut out = Vec::with_capacity(1024);
        self.top.write(&mut out);
        out.into()
    }
}
