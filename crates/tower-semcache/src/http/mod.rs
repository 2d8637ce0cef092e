//! Record and replay of HTTP responses.
//!
//! [`HttpRecord`] stores a response while its body streams by: no byte is delayed, and the entry is
//! there before whoever reads the body learns of its end. What is stored is one [`Answer`]:
//! status, end-to-end headers and one piece of contiguous bytes.
//!
//! ```
//! use bytes::Bytes;
//! use http::{Method, Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{BoxError, Layer, ServiceExt, service_fn};
//! use tower_semcache::http::{Answer, HttpRecord};
//! use tower_semcache::{Cache, CacheLayer, Control, Lookup, Secret};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let secret = Secret::random();
//! let policy = move |request: &Request<()>| {
//!     let mut scope = secret.scope_builder();
//!     for caller in request.headers().get_all("authorization") {
//!         scope = scope.part("caller", caller.as_bytes());
//!     }
//!     let target = request.uri().to_string().into();
//!     let lookup = Lookup::new(&secret, scope.finish(), target);
//!     let lookup = lookup.control(Control::from_headers(request.headers()));
//!     (request.method() == Method::GET).then_some(lookup)
//! };
//! let cache: Cache<Answer> = Cache::builder().build()?;
//! let service = CacheLayer::new(cache, policy, HttpRecord::new("example"))
//!     .layer(service_fn(|_: Request<()>| async {
//!         Ok::<_, BoxError>(Response::new(Full::new(Bytes::from("hello"))))
//!     }));
//!
//! let first = service.clone().oneshot(Request::new(())).await?;
//! assert_eq!(first.headers()["cache-status"], "example; fwd=miss");
//! first.into_body().collect().await?;
//! let second = service.oneshot(Request::new(())).await?;
//! assert_eq!(second.headers()["cache-status"], "example; hit; detail=exact");
//! # Ok(())
//! # }
//! ```
//!
//! Which answers are whole, and which form the caller gets, are closures or types of yours:
//!
//! ```
//! use tower_semcache::http::{Answer, Asked, HttpRecord};
//!
//! let record = HttpRecord::new("example")
//!     .complete(|answer: &Answer| answer.status() == 200 && answer.body().ends_with(b"}"))
//!     .transcode(|stored: &Answer, asked: &Asked<'_>| {
//!         // Only the form it came in.
//!         (asked.headers.get("accept") == stored.headers().get("content-type"))
//!             .then(|| stored.clone())
//!     });
//! # drop(record);
//! ```
//!
//! # What belongs into the key
//!
//! All that can change the answer, in the scope or in the canonical request; what is in neither, one
//! caller gets as another asked for it. Of an HTTP request that is the method, unless the policy
//! takes but one; the path and query; the body; every value of every header that carries a credential
//! (`get_all`, not `get`); and what else the service reads, like `Origin` or `Accept-Language`. A
//! `POST` comes under a policy only where it is known to act on nothing.
//!
//! # What is stored
//!
//! A response whose body came to a clean end, of the length its `Content-Length` promises, within
//! [`max_entry_bytes`](crate::Cache::max_entry_bytes), and of which [`Complete`] says that it is
//! whole. Never stored are responses
//!
//! * to a `HEAD`: its body is empty, and where the policy leaves out the method, that would serve a
//!   `GET`. A `HEAD` can be served from what a `GET` has stored, and gets all of it but the body;
//! * with `Cache-Control: no-store` or `private`, or `max-age` or `s-maxage` of zero (of less than
//!   the life the entry would have, it shortens that life). `no-cache` is obeyed too, except on
//!   `text/event-stream`: there servers send it by habit, against proxies that buffer;
//! * with a `Vary` that names more than `Accept-Encoding` and `Origin`: the look-up decides what an
//!   answer depends on, and cannot know of another header. Of these two, an encoded body is not
//!   stored, and `Origin` belongs into the scope where browsers ask: `Access-Control-*` is replayed;
//! * with a `Content-Encoding` other than `identity`, or a `Content-Range`;
//! * with trailers: the stored form has no place for them.
//!
//! # What is never replayed
//!
//! `Set-Cookie`, request and trace ids, rate limits, `Date`, `Age`, `Server-Timing`, `Cache-Status`,
//! `Retry-After`, `Alt-Svc` and all that belongs to one connection.
//!
//! # What a response says
//!
//! Every response has `Cache-Status` (RFC 9211) and its [`Outcome`](crate::Outcome) among the
//! extensions; one from the cache also `Age`.

mod answer;
mod body;
mod complete;
mod draft;
mod extensions;
mod finish;
mod headers;
mod record;
mod status;
mod transcode;

pub use answer::Answer;
pub use body::Body;
pub use complete::{Complete, Success};
pub use extensions::FromExtensions;
pub use finish::{Finish, FinishBody, FinishFuture, FinishLayer};
pub use record::HttpRecord;
pub use transcode::{Asked, SameForm, Transcode};

pub(crate) use headers::{directives, seconds};
