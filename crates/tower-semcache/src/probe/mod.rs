//! Answers exact hits in front of everything else.
//!
//! A [`Probe`] looks once, in memory, while the request is being called: no task, no lock held over
//! an await. It stores nothing and says nothing about what it passes on; a
//! [`CacheLayer`](crate::CacheLayer) with the same [`Cache`](crate::Cache) further in does both.
//!
//! ```
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//! use tower_semcache::{Cache, CacheLayer, Cloned, Lookup, ProbeLayer, Secret};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let secret = Secret::random();
//! let policy = move |question: &&'static str| {
//!     Some(Lookup::new(&secret, secret.scope(&[]), question.as_bytes().into()))
//! };
//! let cache: Cache<String> = Cache::builder().build()?;
//! let service = ServiceBuilder::new()
//!     .layer(ProbeLayer::new(cache.clone(), policy.clone(), Cloned))
//!     // Here is the place for what coalesces, retries or limits.
//!     .layer(CacheLayer::new(cache.clone(), policy, Cloned))
//!     .service(service_fn(|question| async move { Ok::<_, BoxError>(format!("{question}!")) }));
//!
//! assert_eq!(service.clone().oneshot("why").await?, "why!");
//! assert_eq!(service.oneshot("why").await?, "why!");
//! assert_eq!((cache.stats().misses, cache.stats().hits_exact), (1, 1));
//! # Ok(())
//! # }
//! ```
//!
//! A hit while the inner service is saturated:
//!
//! ```
//! use tower::limit::ConcurrencyLimitLayer;
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//! use tower_semcache::{Cache, Cloned, Lookup, ProbeLayer, Secret};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let secret = Secret::random();
//! let lookup = Lookup::new(&secret, secret.scope(&[]), "why".into());
//! let cache: Cache<String> = Cache::builder().build()?;
//! cache.insert(&lookup, "because".to_owned()).expect("there is room");
//! let service = ServiceBuilder::new()
//!     .layer(ProbeLayer::new(cache, move |_: &&str| Some(lookup.clone()), Cloned))
//!     .layer(ConcurrencyLimitLayer::new(0))
//!     .service(service_fn(|_: &'static str| std::future::pending::<Result<_, BoxError>>()));
//!
//! assert_eq!(service.oneshot("why").await?, "because");
//! # Ok(())
//! # }
//! ```
//!
//! # Back-pressure
//!
//! Always ready. A request that misses waits for a clone of the inner service inside its future,
//! so a hit neither waits for nor holds capacity.
//!
//! # Cancellation
//!
//! Dropping the future drops the inner call.
//!
//! # Errors
//!
//! Those of the inner service, boxed. The probe adds none.
//!
//! # Panics
//!
//! Never by itself. A panic of the policy or of the record unwinds through `call`; no lock is held
//! then.

mod future;
mod layer;
mod service;

pub use future::ResponseFuture;
pub use layer::ProbeLayer;
pub use service::Probe;
