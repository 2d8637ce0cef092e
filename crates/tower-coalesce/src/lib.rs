//! Single flight for any tower [`Service`](tower_service::Service): identical requests that are in flight at the same time
//! share one call.
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
