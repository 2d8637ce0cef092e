//! A deterministic stand-in for an OpenAI-compatible server, as a service and as a server.
//!
//! The same request has the same answer, byte for byte, whenever and wherever it is asked. What an answer costs is a model:
//! 12 ms a call and 3 ms a prompt, then 5 ms between the tokens of a stream, all of it [`Settings`]. All time is tokio's, so
//! tests can pause it.
//!
//! With the feature `replay` an answer can cost what it costs in a simulated server instead, scheduler and batching included: see
//! `Engine` and `Stub::replay`.
//!
//! | endpoint | |
//! |---|---|
//! | `POST /v1/chat/completions` | `messages`, `stream`, `stream_options`, `max_tokens`, `max_completion_tokens`, `n` |
//! | `POST /v1/completions` | `prompt`: a text, texts or token ids; streamed texts interleave by `index` |
//! | `POST /v1/embeddings` | `input`: a text, texts or token ids; `encoding_format` `base64`; `dimensions` |
//! | `GET /v1/models`, `GET /health` | |
//! | `GET /stats`, `POST /reset` | [`Stats`] as JSON; forget them |
//!
//! # Faults
//!
//! The model's name says what shall go wrong: `stub?key=value&key=value`. An unknown key is refused with a 400 that names it.
//! The table is also there as [`KEYS`].
//!
//! | key | |
//! |---|---|
//! | `delay=50ms` | wait so long before the answer, instead of the cost model |
//! | `tokens=20` | the natural length of the answer |
//! | `pace=10ms` | the time between two tokens of a stream |
//! | `finish=length` | the `finish_reason` |
//! | `status=429` | answer with an error of this status, at once or after `delay` |
//! | `retry_after=7` | with `status` or `fail_first`: seconds in `Retry-After` |
//! | `fail_first=2` | only the first requests with this very name fail, with `status` or 503 |
//! | `drop=1` | close the connection instead of answering |
//! | `cut=3` | break the connection after so many events; without a stream, in the middle of the body |
//! | `stall=3` | say nothing more after so many events; without a stream, after the head |
//! | `error_event=3` | an error event after so many events, then the end |
//! | `split=1` | frames of so many bytes, whatever the events |
//! | `comments=1` | a comment before every event |
//! | `crlf=1` | events end in CRLF |
//! | `done=0` | no `[DONE]` at the end of a stream |
//!
//! # Examples
//!
//! ```
//! use http::Request;
//! use http_body_util::BodyExt;
//! use llm_backend::RequestBody;
//! use llm_backend::stub::Stub;
//! use tower::ServiceExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stub = Stub::default();
//! let body = RequestBody::from(r#"{"model":"stub","prompt":"Hello","max_tokens":3}"#);
//! let response = stub.clone().oneshot(Request::post("/v1/completions").body(body)?).await?;
//! let answer = response.into_body().collect().await?.to_bytes();
//! let answer: serde_json::Value = serde_json::from_slice(&answer)?;
//! assert_eq!(answer["choices"][0]["finish_reason"], "length");
//! assert_eq!(answer["usage"]["completion_tokens"], 3);
//! assert_eq!(stub.stats().completed, 1);
//! # Ok(())
//! # }
//! ```
//!
//! A server that streams without delay, on a free port:
//!
//! ```
//! use std::future::ready;
//!
//! use llm_backend::stub::{self, Settings, Stub};
//! use tokio::net::TcpListener;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let stub = Stub::new(Settings::instant().tokens(100));
//! stub::serve(listener, stub, ready(())).await;
//! # Ok(())
//! # }
//! ```
//!
//! # Back-pressure
//!
//! Always ready; calls are independent. A stream makes an event when it is asked for one: unread, it stands still.
//!
//! # Cancellation
//!
//! Dropping the future or the body ends the work, and is counted as [`cancelled`](Stats::cancelled).
//!
//! # Errors
//!
//! What is wrong with a request is an answer with an OpenAI error object. As a service, a connection that is dropped on purpose
//! is an error of the kind [`Closed`](crate::error::Kind::Closed), a body that is cut one of the kind
//! [`Cut`](crate::error::Kind::Cut), as they are from a [server](serve) through [`client::OpenAi`](crate::client::OpenAi).
//!
//! # Panics
//!
//! The future panics when it is polled again after it is done. A tokio runtime with its timer on is needed.

mod answer;
mod body;
#[cfg(feature = "replay")]
mod engine;
mod events;
mod future;
mod reply;
mod request;
mod script;
#[cfg_attr(not(feature = "replay"), path = "no_seats.rs")]
mod seats;
mod server;
mod service;
mod settings;
mod stats;
mod text;

pub use self::body::Body;
#[cfg(feature = "replay")]
pub use self::engine::Engine;
pub use self::future::ResponseFuture;
pub use self::script::KEYS;
pub use self::server::serve;
pub use self::service::Stub;
pub use self::settings::Settings;
pub use self::stats::Stats;
