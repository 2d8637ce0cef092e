//! Single flight for any tower [`Service`](tower_service::Service): identical requests that are in flight at the same time
//! share one call.
//!
//! The first of them, the *leader*, makes the call; those that come while it lasts, the *followers*, wait for it and get
//! the same outcome. The call runs in a task of its own, the *flight*, so any caller may leave without the others noticing.
//! Nothing is remembered once a flight is over: this is not a cache, but what belongs in front of one.
//!
//! A [`Policy`] says which requests are identical, a [`Share`] how one response becomes many: [`Cloned`] clones it, and, with the
//! `http` feature, `http::SharedBody` lets many readers read one streaming body, live and from its start.
//!
//! # Examples
//!
//! Responses that can be cloned:
//!
//! ```
//! use std::convert::Infallible;
//! use tower::{Layer, ServiceExt, service_fn};
//! use tower_coalesce::CoalesceLayer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower::BoxError> {
//! let square = service_fn(|n: u64| async move { Ok::<_, Infallible>(n * n) });
//! let layer = CoalesceLayer::new(|n: &u64| Some(*n));
//! let service = layer.layer(square);
//!
//! let (a, b) = tokio::join!(service.clone().oneshot(12), service.clone().oneshot(12));
//! assert_eq!((a?, b?), (144, 144));
//! assert_eq!(layer.stats().snapshot().leaders, 1);
//! # Ok(())
//! # }
//! ```
//!
//! Streaming HTTP responses, in a stack that bounds both bodies. The key must hold all that can change the answer: the method,
//! the target, the body, **every** header that tells callers apart (a header can come more than once: `get_all`, not `get`), and those
//! that say how the body is to be read and the answer may be written. What it leaves out, one caller gets as another asked for it:
//!
#![cfg_attr(feature = "http", doc = "```")]
#![cfg_attr(not(feature = "http"), doc = "```ignore")]
//! use std::convert::Infallible;
//! use std::time::Duration;
//! use bytes::Bytes;
//! use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, COOKIE};
//! use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
//! use http_body_util::{BodyExt, Full};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//! use tower_coalesce::http::{CollectLayer, Collected, SharedBody};
//! use tower_coalesce::{CoalesceLayer, OnAbandon, Role};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower::BoxError> {
//! #[derive(Clone, PartialEq, Eq, Hash)]
//! struct Key {
//!     method: Method,
//!     uri: Uri,
//!     headers: Vec<(HeaderName, HeaderValue)>,
//!     body: Bytes,
//! }
//!
//! /// Who asks, and in which form; yours may look at others, like `x-api-key`.
//! const TELLING: [HeaderName; 6] =
//!     [AUTHORIZATION, COOKIE, CONTENT_TYPE, CONTENT_ENCODING, ACCEPT, ACCEPT_ENCODING];
//!
//! fn key(request: &Request<Collected>) -> Option<Key> {
//!     let header = |name: HeaderName| {
//!         let all = request.headers().get_all(&name).iter();
//!         all.map(move |value| (name.clone(), value.clone()))
//!     };
//!     // Only what may run once for many: this server's only POST reads, and does nothing.
//!     (request.method() == Method::POST).then(|| Key {
//!         method: request.method().clone(),
//!         uri: request.uri().clone(),
//!         headers: TELLING.into_iter().flat_map(header).collect(),
//!         body: request.body().data().clone(),
//!     })
//! }
//!
//! let upstream = service_fn(|request: Request<Collected>| async move {
//!     Ok::<_, Infallible>(Response::new(Full::new(request.into_body().into_data())))
//! });
//! let service = ServiceBuilder::new()
//!     .layer(CollectLayer::new(64 * 1024))
//!     .layer(
//!         CoalesceLayer::new(key)
//!             .share_with(SharedBody::new().cap(1024 * 1024).window(32 * 1024))
//!             .on_abandon(OnAbandon::Cancel)
//!             .max_flights(1_000)
//!             .max_age(Duration::from_secs(600)),
//!     )
//!     .service(upstream);
//!
//! let request = Request::post("/echo").body(Full::new(Bytes::from("hello")))?;
//! let response = service.oneshot(request).await?;
//! assert_eq!(response.extensions().get(), Some(&Role::Leader));
//! assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
//! # Ok(())
//! # }
//! ```
//!
//! # Back-pressure
//! The service is always ready, and drives the inner one with a [`Oneshot`](tower::util::Oneshot) on a clone inside the flight: followers neither wait for its capacity
//! nor hold it. What a flight holds (a permit, a connection) is given back before anybody hears of its end. There are at most
//! [`max_flights`](CoalesceLayer::max_flights) flights; a request that would start one more fails with
//! [`Overloaded`](error::Overloaded), joining one never does. A shared body is read no further than its fastest reader and a
//! window, and its memory is bounded. A request without a key passes through: no task, no lock.
//!
//! # Cancellation
//! Dropping a response future, or a body, is leaving. The others go on; a follower needs no second call when the leader
//! leaves. When the last one leaves, the inner future or body is dropped at once, in whichever phase it is, unless
//! [`OnAbandon::Finish`] lets it end. A flight that everybody has left is never joined. Dropping the runtime aborts its flights.
//!
//! # Errors
//! All callers of a flight get the same outcome. The inner service's error comes as a [`FlightError`], whose
//! [`source`](std::error::Error::source) is the original, the same value for all. The flight's own errors are
//! [`LeaderPanicked`](error::LeaderPanicked), [`TooOld`](error::TooOld), after [`max_age`](CoalesceLayer::max_age), and [`LeaderAborted`](error::LeaderAborted). A reader that
//! fell too far behind gets a [`Lagged`](error::Lagged). Errors of requests without a key pass through as they are.
//! How they become responses under tonic and axum is shown in [`error`].
//!
//! # Panics
//! A panic in the inner service, its future or its body is a typed error to all callers of the flight, and its key is free. One
//! in the policy, or while a response is cloned, is the caller's own. `call` panics outside a tokio runtime with a timer, as
//! [`tokio::spawn`] does, and leaves no key behind.
//!
//! # When the key is freed
//! With [`Cloned`], before anybody is woken. With a shared body, which can be joined as long as it streams, before anybody can see its
//! end. So whoever has seen a flight end and asks again starts a new one; and a cache below, which has stored the answer
//! before it passed on the last frame, answers it. There is no gap in which the same work is done twice.
#![forbid(unsafe_code)]

mod clock;
pub mod error;
mod future;
#[cfg(feature = "http")]
pub mod http;
mod layer;
mod leader;
mod lease;
mod policy;
mod registry;
mod role;
mod seat;
mod service;
mod share;
mod stats;
mod sync;

pub use self::error::FlightError;
pub use self::future::ResponseFuture;
pub use self::layer::CoalesceLayer;
pub use self::lease::Lease;
pub use self::policy::Policy;
pub use self::role::{OnAbandon, Role};
pub use self::service::Coalesce;
pub use self::share::{Cloned, Rest, Share};
pub use self::stats::{Snapshot, Stats};

/// The README's example runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
