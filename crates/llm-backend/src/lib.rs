//! OpenAI-compatible backends as tower services.
//!
//! What is on the wire: [`sse`], [`json`] (the canonical form of a request), [`prompt`] (what a request asks for),
//! [`complete`] (is this answer whole?), [`transcode`] (a stream as a body and the reverse), [`merge`] (several callers'
//! inputs in one call). Who answers, each behind a feature of its own: `client::OpenAi`, a server over HTTP, or `stub::Stub`, a
//! deterministic stand-in.
#![forbid(unsafe_code)]

pub mod body;
pub mod complete;
pub mod error;
pub mod json;
pub mod merge;
pub mod prompt;
pub mod sse;
pub mod transcode;

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "stub")]
pub mod stub;

pub use body::RequestBody;
pub use error::Error;
