//! An OpenAI-compatible server over HTTP, as a tower service.
//!
//! [`OpenAi`] sends a request as it came: the body's bytes are not touched, end-to-end headers survive. It changes what
//! belongs to the connection: the URI (see [`BaseUrl`]), `Host`, hop-by-hop headers, `Expect`, `Content-Length`, and
//! `Accept-Encoding`, which is `identity`, so that frames can be read once. A configured [`Credential`] replaces whatever
//! credential the caller sent (`Authorization`, `api-key`, `x-api-key`, `Cookie`).
//!
//! ```no_run
//! use http::Request;
//! use llm_backend::RequestBody;
//! use llm_backend::client::OpenAi;
//! use tower::ServiceExt;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let server = OpenAi::new("http://localhost:8000".parse()?);
//! let request = Request::post("/v1/chat/completions")
//!     .header("content-type", "application/json")
//!     .body(RequestBody::from(r#"{"model":"m","messages":[]}"#))?;
//! let response = server.oneshot(request).await?;
//! assert_eq!(response.status(), 200);
//! # Ok(())
//! # }
//! ```
//!
//! With limits, a credential, and a client of one's own (here one that answers itself):
//!
//! ```
//! use std::convert::Infallible;
//! use std::time::Duration;
//!
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use llm_backend::RequestBody;
//! use llm_backend::client::{Credential, Limits, OpenAi};
//! use tower::{ServiceExt, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = service_fn(|request: Request<RequestBody>| async move {
//!     assert_eq!(request.uri(), "http://gpu-1:8000/v1/models");
//!     assert_eq!(request.headers()["authorization"], "Bearer ours");
//!     Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"{}"))))
//! });
//! let server = OpenAi::builder("http://gpu-1:8000/v1".parse()?)
//!     .limits(Limits::default().first_token(Duration::from_secs(30)).total(Duration::from_secs(600)))
//!     .credential(Credential::bearer("ours")?)
//!     .build_with(client);
//! let response = server.oneshot(Request::get("/v1/models").body(RequestBody::empty())?).await?;
//! assert_eq!(response.into_body().collect().await?.to_bytes(), "{}");
//! # Ok(())
//! # }
//! ```
//!
//! # Back-pressure
//!
//! [`OpenAi`] is ready when its client is, and calls the one that it made ready; a clone is as ready as the client's clone.
//! The default client is always ready. The response body reads from the upstream only when it is polled: a reader that rests
//! holds the upstream back once the buffers of the connection are full.
//!
//! # Cancellation
//!
//! Dropping the future or the body closes the connection, whatever the stage. A body read to its end gives the connection
//! back to the pool.
//!
//! # Errors
//!
//! Any answer of the upstream is a response, 4xx and 5xx included, with its headers. [`Error`](crate::Error) is what is not
//! an answer; its [`Kind`](crate::error::Kind) tells the stage. A request whose path has dot segments is refused before
//! anything is sent, as [`RequestPath`](crate::error::Kind::RequestPath), status 400: see [`BaseUrl::accepts`]. A body that
//! is cut off ends in an error of the kind [`Cut`](crate::error::Kind::Cut), never cleanly. Where neither a length nor chunks
//! show the end (HTTP/1.0, say), the connection's end is believed only if the content is whole: every choice of a
//! `text/event-stream` has a finish reason, or `[DONE]` or an error came; the value of `application/json` is closed. Other
//! content passes as it is. There are no retries but one: see [`Http`].
//!
//! # Panics
//!
//! The future panics when it is polled again after it is done. Time limits need a tokio runtime with its timer on.

mod bell;
mod body;
mod classify;
mod connect;
mod connection;
mod content;
mod credential;
mod driver;
mod exchange;
mod future;
mod headers;
mod http;
mod incoming;
mod limits;
mod path;
mod pool;
mod service;
mod url;
mod wire;

pub use self::body::Body;
pub use self::credential::Credential;
pub use self::future::ResponseFuture;
pub use self::http::{Http, Sending};
pub use self::incoming::Incoming;
pub use self::limits::Limits;
pub use self::service::{Builder, OpenAi};
pub use self::url::{BaseUrl, InvalidUrl};
