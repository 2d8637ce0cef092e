//! Answers exact hits in front of everything else.
//!
//! A [`Probe`] looks once, in memory, while the request is being called: no task, no lock held over
//! an await. It stores nothing and says nothing about what it passes on; a
//! [`CacheLayer`](crate::CacheLayer) with the same [`Cache`](crate::Cache) further in does both.
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
