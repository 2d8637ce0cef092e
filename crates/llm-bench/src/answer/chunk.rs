//! One event of a stream, or one body: as much of it as is measured.

use super::Usage;
use super::said::Said;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::Value;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk {
    /// Not every server leaves it out where it has none.
    pub(super) choices: Option<Vec<Choice>>,
    usage: Option<RawUsage>,
    error: Option<Value>,
    /// Of embeddings.
    pub(super) data: Option<Vec<IgnoredAny>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) index: u32,
    delta: Option<Said>,
    message: Option<Said>,
    text: Option<Said>,
    finish_reason: Option<Said>,
    token_ids: Option<Count>,
    logprobs: Option<Logprobs>,
}

#[derive(Debug, Deserialize)]
struct Logprobs {
    /// Of a chat.
    content: Option<Count>,
    /// Of a completion.
    tokens: Option<Count>,
}

#[derive(Debug, Deserialize)]
struct RawUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Debug, Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

/// The length of an array.
#[derive(Clone, Copy, Debug)]
struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
    where
        D: Deserializer<'de>,
    {
        Vec::<IgnoredAny>::deserialize(deserializer).map(|items| Self(items.len() as u64))
    }
}

impl Chunk {
    /// None where it is no JSON, or not of this kind.
    pub(super) fn read(json: &[u8]) -> Option<Self> {
        // `null` is an event of llama.cpp's streamed arrays of prompts.
        serde_json::from_slice::<Option<Self>>(json)
            .ok()
            .map(Option::unwrap_or_default)
    }

    pub(super) fn choices(&self) -> &[Choice] {
        self.choices.as_deref().unwrap_or_default()
    }

    pub(super) fn usage(&self) -> Option<Usage> {
        self.usage.as_ref().map(|usage| Usage {
            prompt: usage.prompt_tokens,
            cached: usage
                .prompt_tokens_details
                .as_ref()
                .and_then(|details| details.cached_tokens),
            output: usage.completion_tokens,
        })
    }

    /// In the server's words.
    pub(super) fn error(self) -> Option<String> {
        let error = self.error.filter(|error| !error.is_null())?;
        let message = error.get("message").and_then(Value::as_str);
        Some(message.map_or_else(|| error.to_string(), str::to_owned))
    }
}

impl Choice {
    pub(super) fn says(&self) -> bool {
        [self.delta, self.message, self.text]
            .into_iter()
            .flatten()
            .any(|said| said.0)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finish_reason.is_some_and(|reason| reason.0)
    }

    pub(super) fn tokens(&self) -> Option<u64> {
        let logprobs = self.logprobs.as_ref();
        let count = self
            .token_ids
            .or_else(|| logprobs.and_then(|logprobs| logprobs.content.or(logprobs.tokens)));
        count.map(|count| count.0)
    }
}
