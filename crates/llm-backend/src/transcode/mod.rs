//! One answer, two forms: a stream of events as the body the server would have sent, and a body as a stream.
//!
//! # From a stream to a body
//!
//! [`aggregate`] for a whole stream, [`Aggregator`] for one that is still arriving. The result equals the server's own body in
//! every field that streams, and in usage; what never streams (`prompt_logprobs`, `kv_transfer_params`, …) is absent.
//! Values are put together as text, never computed with: a number keeps its digits, a string its escapes.
//!
//! * Deltas of one choice (`delta` of a chat, the choice itself of a completion) are put together by `index`, in whatever order
//!   they come: **strings are joined**, arrays are joined, objects are put together member by member by these same rules, of
//!   anything else the last one that is not null counts. So reasoning, refusals, tool arguments and fields that nobody has thought
//!   of yet are kept.
//! * Except: `role`, `id`, `type` and `format` are said once, and of several the first counts; a function's `name` that comes again
//!   unchanged is not doubled. Elements of arrays that carry an `index` (tool calls) are put together by it.
//! * What stands beside the delta (`logprobs`, `finish_reason`, filter results) follows the same rules, but there strings are not
//!   joined, the last one counts; and elements of arrays are never put together.
//! * At the top, `id`, `created` and `model` are the first ones, anything else the last one that is not null. `object` loses its
//!   `.chunk`. `usage` is taken from wherever it is, the last one.
//!   `obfuscation` (padding against eavesdroppers) is left out.
//! * `data: null` and comments are skipped. A chat message that was told no `role` gets `"assistant"` (llama.cpp leaves it out where
//!   the first token is half a character), one without any `content` gets null: bodies have both.
//!
//! # From a body to a stream
//!
//! [`to_stream`]: for each choice the role, reasoning, content and all other fields, tool calls, the finish, in this order; then
//! usage, only if asked for, and `[DONE]`. Top-level fields that are not in every chunk come with the last finish.
//!
//! # Beside it
//!
//! [`stream_request`] makes a request ask for a stream with usage, [`strip_usage`] takes the usage out for a caller who did not
//! ask, and [`tells_usage`] says whether it is there for one who did.
//!
//! # Examples
//!
//! ```
//! use bytes::Bytes;
//! use llm_backend::{prompt::Endpoint::Completions, transcode};
//!
//! let stream = Bytes::from(concat!(
//!     "data: {\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"Hel\"}]}\n\n",
//!     "data: {\"choices\":[{\"index\":0,\"text\":\"lo\",\"finish_reason\":\"stop\"}],\"usage\":{\"total_tokens\":3}}\n\n",
//! ));
//! let body = transcode::aggregate(Completions, &stream).expect("whole, with usage");
//! assert_eq!(body, concat!(
//!     r#"{"object":"text_completion","choices":[{"index":0,"text":"Hello","finish_reason":"stop"}],"#,
//!     r#""usage":{"total_tokens":3}}"#,
//! ));
//! ```
//!
//! And back:
//!
//! ```
//! use llm_backend::{prompt::Endpoint::ChatCompletions, transcode::{self, IncludeUsage}};
//!
//! let body = r#"{"id":"1","object":"chat.completion","choices":[{"index":0,
//!     "message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
//! let stream = transcode::to_stream(ChatCompletions, body.as_bytes(), IncludeUsage::No).expect("a chat");
//! assert!(stream.starts_with(br#"data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"#));
//! assert!(stream.ends_with(b"data: [DONE]\n\n"));
//! ```

mod aggregate;
mod error;
mod replay;
mod request;
mod tree;
mod usage;

pub use self::{
    aggregate::{Aggregator, Usage, aggregate},
    error::{Error, Kind},
    replay::{IncludeUsage, to_stream},
    request::stream_request,
    usage::{UsageFilter, strip_usage, tells_usage},
};

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

#[cfg(test)]
mod tests;
