//! Streaming responses: one body, many readers. And a layer that collects request bodies, for keys that need them.

mod body;
mod collect;
mod collect_if;
mod collected;
mod collecting;
mod pump;
mod shared;

pub use self::body::Body;
pub use self::collect::{Collect, CollectLayer, PayloadTooLarge};
pub use self::collect_if::{CollectIf, CollectIfLayer};
pub use self::collected::{Collected, MaybeCollected};
pub use self::collecting::CollectFuture;
pub use self::pump::Pump;
pub use self::shared::{Broadcast, SharedBody};
