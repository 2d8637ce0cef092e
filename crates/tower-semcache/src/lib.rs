//! A response cache for any tower [`Service`](tower_service::Service): exact, and semantic where
//! the policy allows it.
//!
//! * A [`Policy`] turns a request into a [`Lookup`], or lets it pass untouched. A look-up has a
//!   [`Scope`] (a keyed digest of everything that must agree), the canonical request, and perhaps
//!   the one text in which a similar request may differ.
//! * A [`Cache`] holds answers, keys and vectors in memory under one bound in bytes. An answer
//!   leaves when its life is over, when it is the least recently used and room is needed, or by a
//!   purge. An exact hit compares scope and canonical request whole.
//! * A [`Record`] turns a response into a stored answer and back: [`Cloned`] for plain values,
//!   `http::HttpRecord`, with the feature `http`, for bodies that stream.
//! * [`ProbeLayer`] answers exact hits in front of everything, [`CacheLayer`] does the rest further
//!   in: look-up, embedding, search, recording. Both share one [`Cache`]; what coalesces equal
//!   requests belongs between them, so that the leader of a flight looks once more.
//!
//! # Exact
//!
//! ```
//! use tower::{BoxError, Layer, Service, ServiceExt, service_fn};
//! use tower_semcache::{Cache, CacheLayer, Cloned, Lookup, Secret};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let secret = Secret::random();
//! let policy = move |question: &String| {
//!     let scope = secret.scope(&[("model", b"small")]);
//!     Some(Lookup::new(&secret, scope, question.clone().into()))
//! };
//! let cache: Cache<String> = Cache::builder().build()?;
//! let layer = CacheLayer::new(cache.clone(), policy, Cloned);
//! let mut service = layer.layer(service_fn(|question: String| async move {
//!     Ok::<_, BoxError>(format!("the answer to {question}"))
//! }));
//!
//! for _ in 0..2 {
//!     let answer = service.ready().await?.call("why?".to_owned()).await?;
//!     assert_eq!(answer, "the answer to why?");
//! }
//! assert_eq!(cache.stats().hits_exact, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Semantic
//!
//! The embedder is a tower service, the guard has the last word, the tenant is part of the scope,
//! and the bounds are set:
//!
#![cfg_attr(all(feature = "hashed", feature = "guards"), doc = "```")]
#![cfg_attr(not(all(feature = "hashed", feature = "guards")), doc = "```ignore")]
//! use std::time::Duration;
//! use tower::{BoxError, Layer, Service, ServiceExt, service_fn};
//! use tower_semcache::guard::Literal;
//! use tower_semcache::hashed::{HashedEmbedder, Ngrams};
//! use tower_semcache::{Cache, CacheLayer, Cloned, Lookup, Matching, Policy, Secret};
//!
//! #[derive(Clone)]
//! struct ByTenant {
//!     secret: Secret,
//!     matching: Matching,
//! }
//!
//! impl Policy<(&'static str, String)> for ByTenant {
//!     fn lookup(&self, (tenant, question): &(&'static str, String)) -> Option<Lookup> {
//!         let scope = self.secret.scope(&[("tenant", tenant.as_bytes())]);
//!         let lookup = Lookup::new(&self.secret, scope, question.clone().into());
//!         Some(lookup.text(question.as_str()).matching(self.matching))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let policy = ByTenant { secret: Secret::random(), matching: Matching::threshold(0.8)? };
//! let cache: Cache<String> =
//!     Cache::builder().max_bytes(16 << 20).ttl(Duration::from_secs(600)).build()?;
//! let mut service = CacheLayer::new(cache, policy, Cloned)
//!     .semantic(HashedEmbedder::new(Ngrams::Words), Literal)
//!     .embed_deadline(Duration::from_millis(20))
//!     .layer(service_fn(|(_, question): (&'static str, String)| async move {
//!         Ok::<_, BoxError>(format!("the answer to {question}"))
//!     }));
//!
//! let mut ask = async |tenant, question: &str| {
//!     service.ready().await?.call((tenant, question.to_owned())).await
//! };
//! let stored = ask("a", "how many miles are 5 km").await?;
//! assert_eq!(ask("a", "5 km are how many miles").await?, stored);
//! // The guard reads the numbers, and tenants never share.
//! assert_ne!(ask("a", "how many miles are 6 km").await?, stored);
//! assert_ne!(ask("b", "5 km are how many miles").await?, stored);
//! # Ok(())
//! # }
//! ```
//!
//! # Speed of the search
//!
//! Up to 1,024 texts of a scope are compared one by one. In a larger scope the signs of all vectors
//! are counted first and the 256 nearest compared: the best of them is the nearest of all in every case
//! measured, and `cargo bench -p tower-semcache --bench decision` measures it again. The loops are
//! compiled for several instruction sets, and the best one of the machine (on x86-64 up to AVX-512, on
//! ARM NEON) is taken at run time: a build for plain x86-64 needs no flags, and a cosine has the same
//! bits everywhere.
//!
//! # Failing open
//!
//! Whatever fails in the cache costs a hit, never a request: an embedder that errs, hangs past its
//! deadline or returns a vector that is not finite is a miss, and counted in [`Stats`]; an answer
//! that cannot be stored is passed on all the same.
//!
//! # What a caller can do
//!
//! A [`Control`] can only make reuse stricter. Threshold, scope and life time come from the policy.
//! The layers never store a semantic hit under the asked request. [`Cache::promote`] does, as a copy
//! that is as old as its origin and leaves with it: a wrong one lives no longer than what it came from.
//!
//! # Mistakes
//!
//! An answer reported as bad ([`Cache::bad`], or by a [`Receipt`] that its caller was given) leaves before
//! the next look-up, with every copy of it. Two
//! answers found to be different ([`Cache::veto`]) never answer each other's requests again while one of
//! them lives. Whoever is judged different from 64 others answers equal requests only.
//!
//! # Back-pressure
//!
//! [`CacheService`] and [`Probe`] are always ready. A request that misses waits for a clone of the
//! inner service inside its future, so hits neither wait for nor hold its capacity. The embedder is
//! waited for in the same way, up to a deadline.
//!
//! # Cancellation
//!
//! Dropping a future drops the embedding or the inner call. An answer whose body is dropped before
//! its end is not stored. The layers spawn no task; a [`Worker`], which you spawn, spawns one a comparison.
//!
//! # Errors
//!
//! Those of the inner service, boxed, and [`error::NotCached`] for a caller who wants a stored answer
//! or nothing (under `http` a 504 instead). Server frameworks want a response instead of a boxed
//! error: under axum, `HandleErrorLayer::new(|error: BoxError| async move { (status, text) })` goes
//! above the layers, under tonic `tower::util::MapErrLayer::new(|error: BoxError| Status::…)`.
//!
//! # Panics
//!
//! The layers never panic by themselves. A panic of a policy, a guard, a record or a service
//! unwinds through the call it happened in; no lock is held then, and the cache stays usable.
//! Futures panic when polled after completion.
#![forbid(unsafe_code)]

pub mod bounded;
mod cache;
mod control;
mod future;
mod identity;
pub mod judge;
mod layer;
mod lookup;
mod matching;
mod outcome;
mod policy;
mod record;
mod scope;
mod semantic;
mod service;
mod vector;
mod weigh;

pub mod error;
pub mod guard;
#[cfg(feature = "hashed")]
pub mod hashed;
#[cfg(feature = "http")]
pub mod http;
pub mod probe;
mod receipt;

pub use cache::{Builder, Cache, Commit, EntryId, Hit, Neighbour, Provenance, Refusal, Stats};
pub use control::Control;
pub use future::ResponseFuture;
pub use guard::{AcceptAll, Guard, Verdict};
pub use identity::Identity;
pub use layer::CacheLayer;
pub use lookup::Lookup;
pub use matching::{Matching, Similarity, Threshold};
pub use outcome::{Detail, Outcome};
pub use policy::Policy;
pub use probe::{Probe, ProbeLayer};
pub use receipt::{Given, Receipt};
pub use record::{Cloned, ClonedWhen, Record};
pub use scope::{Scope, ScopeBuilder, Secret};
pub use semantic::{Again, Bounded, Judged, Mode, NoEmbedder, Worker};
pub use service::CacheService;
pub use vector::Vector;
pub use weigh::Weigh;

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[derive(Debug)]
struct Readme;
