//! Response cache.
#![forbid(unsafe_code)]

mod cache;
mod control;
mod future;
pub mod guard;
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
#[cfg(feature = "hashed")]
pub mod hashed;
#[cfg(feature = "http")]
pub mod http;
pub mod probe;

pub use cache::{Builder, Cache, Commit, Hit, Refusal, Stats};
pub use control::Control;
pub use future::ResponseFuture;
pub use guard::{AcceptAll, Guard, Verdict};
pub use layer::CacheLayer;
pub use lookup::Lookup;
pub use matching::{Matching, Similarity, Threshold};
pub use outcome::{Detail, Outcome};
pub use policy::Policy;
pub use probe::{Probe, ProbeLayer};
pub use record::{Cloned, Record};
pub use scope::{Scope, ScopeBuilder, Secret};
pub use semantic::NoEmbedder;
pub use service::CacheService;
pub use vector::Vector;
pub use weigh::Weigh;
