//! Audits that go on without their callers.

mod body;
mod future;
mod kept;
mod layer;

pub use body::FinishBody;
pub use future::FinishFuture;
pub use layer::{Finish, FinishLayer};

pub(super) use kept::Wanted;
