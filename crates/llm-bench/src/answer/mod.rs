//! What an answer says, read once it is over.
//!
//! | what | how it is read |
//! |---|---|
//! | a token has arrived | a delta says something on **any** channel: content, reasoning, refusal, a tool call. A role alone, an empty text, a chunk without choices say nothing |
//! | how many, in a chunk | the growth of `usage.completion_tokens` where each chunk carries it (`continuous_usage_stats`), the number of its `token_ids` or `logprobs`, else nobody knows |
//! | how many, in all | `usage.completion_tokens`: the last one said, never a sum; else the chunks' own numbers; else the chunks are counted |
//! | it is whole | every choice has a `finish_reason` and the body ends cleanly; `[DONE]` is not needed, not every server sends it |

mod body;
mod chunk;
mod said;
mod stream;

use crate::client::Recording;
use crate::clock::Stamp;
use crate::workload::{Endpoint, Form};

/// What an answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// When tokens arrived, in order; one entry a moment. Empty where the answer is one body.
    pub arrivals: Vec<Arrival>,
    /// Whether it is whole.
    pub whole: bool,
    /// An error that the server told inside the answer.
    pub error: Option<String>,
    /// What the server counted.
    pub usage: Option<Usage>,
}

/// Tokens that arrived at one moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Arrival {
    /// When.
    pub at: Stamp,
    /// In how many chunks that say something.
    pub chunks: u32,
    /// How many tokens; none where the server does not tell.
    pub tokens: Option<u64>,
}

/// What the server counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt: Option<u64>,
    /// Of these, those that were in the server's prefix cache.
    pub cached: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
}

impl Answer {
    /// Reads what was recorded of an answer by `endpoint`, asked for in `form`; as much as there is of it.
    #[must_use]
    pub fn read(recording: &Recording, endpoint: Endpoint, form: Form) -> Self {
        match form {
            Form::Stream => stream::read(recording),
            Form::Body => body::read(&recording.body(), endpoint),
        }
    }

    /// Tokens of the answer, and who counted them.
    #[must_use]
    pub fn output_tokens(&self) -> (u64, Counted) {
        if let Some(output) = self.usage.and_then(|usage| usage.output) {
            return (output, Counted::Server);
        }
        let chunks = self
            .arrivals
            .iter()
            .map(|arrival| u64::from(arrival.chunks))
            .sum();
        let told: Option<u64> = self.arrivals.iter().map(|arrival| arrival.tokens).sum();
        match told {
            Some(tokens) if !self.arrivals.is_empty() => (tokens, Counted::Server),
            _ => (chunks, Counted::Chunks),
        }
    }
}

/// Who counted the tokens of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Counted {
    /// The server.
    Server,
    /// Nobody: chunks were counted, which may hold several.
    Chunks,
}
