//! What a request asks for: read once, from the bytes, before anything else decides about it.
//!
//! [`Prompt::parse`] refuses what no server could answer alike (not JSON, a key twice, no model) and reads the few fields that
//! decide how a request may travel: the form it wants ([`stream`](Prompt::stream)), whether two of its kind get the same answer
//! ([`sampled`](Prompt::sampled), [`choices`](Prompt::choices)), and what makes it equal to another one
//! ([`canonical`](Prompt::canonical)). Everything else passes untouched: the server validates it.
//!
//! # Examples
//!
//! ```
//! use bytes::Bytes;
//! use llm_backend::prompt::{Endpoint, Prompt};
//!
//! let body = Bytes::from_static(br#"{"temperature":0,"model":"m","prompt":"Hi","user":"ada"}"#);
//! let prompt = Prompt::parse(Endpoint::Completions, &body)?;
//! assert!(!prompt.sampled && !prompt.stream);
//! assert_eq!(prompt.canonical, r#"{"model":"m","prompt":"Hi","temperature":0}"#);
//! # Ok::<(), llm_backend::prompt::Error>(())
//! ```
//!
//! The text that semantic matching may compare, and the rest, which must be equal:
//!
//! ```
//! use bytes::Bytes;
//! use llm_backend::prompt::{Endpoint, MARKER, Prompt};
//!
//! let body = Bytes::from(r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#);
//! let prompt = Prompt::parse(Endpoint::ChatCompletions, &body)?;
//! let semantic = prompt.semantic().expect("one plain question");
//! assert_eq!(&*semantic.text, "Hi");
//! let rest = format!(r#"{{"messages":[{{"content":{MARKER},"role":"user"}}],"model":"m"}}"#);
//! assert_eq!(semantic.without_text, rest);
//! # Ok::<(), llm_backend::prompt::Error>(())
//! ```

mod conversation;
mod endpoint;
mod error;
mod request;
mod semantic;

pub use self::{
    conversation::{Conversation, Speaker, Turn},
    endpoint::Endpoint,
    error::{Error, Kind},
    request::{IGNORED, MAX_GENERATE_PROMPT, MAX_GENERATE_TOKENS, Prompt},
    semantic::{MARKER, Semantic},
};

#[cfg(test)]
mod tests;
