//! What one request asks for.

use serde_json::value::RawValue;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What one request asks for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The prompt.
    pub prompt: Prompt,
    /// The length that the prompt was made to have, in tokens; 0 where nobody knows.
    pub prompt_tokens: u32,
    /// The most tokens that may be answered; 0 leaves it to the server.
    pub output_tokens: u32,
}

/// A prompt.
#[derive(Clone, Debug)]
pub enum Prompt {
    /// A text.
    Text(String),
    /// Several texts, for an endpoint that takes them: embeddings.
    Texts(Vec<String>),
    /// The messages of a chat, in JSON.
    Messages(Arc<RawValue>),
}

/// What request number n asks for.
pub trait Dataset: fmt::Debug + Send + Sync {
    /// How many requests it has; none where it never ends.
    fn len(&self) -> Option<usize> {
        None
    }

    /// Whether there is nothing to ask.
    fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// What request `number` asks for. Beyond the last, it begins again.
    fn ask(&self, number: usize) -> Ask;

    /// The number with which round `round` of a test of `count` requests begins: where there are enough, no round asks what
    /// another has asked.
    fn offset(&self, round: usize, count: Option<usize>) -> usize {
        match (self.len(), count) {
            // A round of its own has no end that is known here.
            (None, _) | (_, None) => round << 32,
            (Some(_), Some(count)) => round * count,
        }
    }

    /// When the requests are due, where that is part of the data.
    fn times(&self) -> Option<Vec<Duration>> {
        None
    }
}
