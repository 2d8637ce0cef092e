//! Several callers' inputs in one upstream call, and each one's answer back.
//!
//! A completion takes an array of prompts, an embedding call an array of inputs. A [`Part`] is one caller's request; parts that
//! are equal in everything but their input ([`Part::compat`]) may be [`join`]ed into one request, and the one response is
//! [`split`] into theirs. The order of the answers is told by their `index`, never by their place: where the indices do not add
//! up, everybody gets an error and nobody somebody else's answer.
//!
//! A server tells one `usage` for the whole call, so what a single caller used cannot be known: a split answer has none.
//! A part that went alone gets the response byte for byte, usage included.
//!
//! Not merged: chats, streams, several choices (`n` or `best_of` above 1), token arrays. Headers and credentials are not seen here:
//! whoever joins requests must keep those of different ones apart.
//!
//! `/v1/generate` is answered through this module even when it goes alone: [`completion_request`] makes the completion that it
//! stands for, and [`split`] renders `{"text": …, "finish_reason": …, "model": …}`.
//!
//! # Examples
//!
//! ```
//! use bytes::Bytes;
//! use llm_backend::{merge::{Part, join, split}, prompt::Endpoint::Completions};
//!
//! let ada = Part::new(Completions, &Bytes::from_static(br#"{"model":"m","prompt":"a"}"#)).unwrap();
//! let bob = Part::new(Completions, &Bytes::from_static(br#"{"prompt":["b","c"],"model":"m"}"#)).unwrap();
//! assert_eq!(ada.compat(), bob.compat());
//! let parts = [ada, bob];
//! assert_eq!(join(&parts)?, r#"{"model":"m","prompt":["a","b","c"]}"#);
//!
//! let response = r#"{"id":"1","choices":[{"index":2,"text":"C"},{"index":0,"text":"A"},{"index":1,"text":"B"}],"usage":{}}"#;
//! let answers = split(&parts, &response.into())?;
//! assert_eq!(answers[0], r#"{"id":"1","choices":[{"index":0,"text":"A"}]}"#);
//! assert_eq!(answers[1], r#"{"id":"1","choices":[{"index":0,"text":"B"},{"index":1,"text":"C"}]}"#);
//! # Ok::<(), llm_backend::merge::Error>(())
//! ```
//!
//! One `/v1/generate`:
//!
//! ```
//! use bytes::Bytes;
//! use llm_backend::{merge::{Part, completion_request, join, split}, prompt::Endpoint::Generate};
//!
//! let asked = Bytes::from_static(br#"{"prompt":"a"}"#);
//! let part = [Part::new(Generate, &completion_request(&asked, Some("m")).unwrap()).unwrap()];
//! assert_eq!(join(&part)?, r#"{"model":"m","max_tokens":64,"temperature":0,"prompt":"a"}"#);
//! let response = r#"{"model":"m","choices":[{"index":0,"text":"A","finish_reason":"stop"}]}"#;
//! assert_eq!(split(&part, &response.into())?[0], r#"{"text":"A","finish_reason":"stop","model":"m"}"#);
//! # Ok::<(), llm_backend::merge::Error>(())
//! ```

mod error;
mod generate;
mod part;
mod split;

pub use self::{
    error::{Error, Kind},
    generate::{DEFAULT_GENERATE_TOKENS, completion_request},
    part::{Part, join, parse},
    split::split,
};

#[cfg(test)]
mod tests;
