//! Streaming responses: one body, many readers. And a layer that collects request bodies, for keys that need them.

mod body;
mod collect;
mod pump;
mod shared;

pub use self::body::Body;
pub use self::collect::{Collect, CollectFuture, CollectLayer, Collected, PayloadTooLarge};
pub use self::pump::Pump;
pub use self::shared::{Broadcast, SharedBody};
