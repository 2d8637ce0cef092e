//! Says in the log when the embedder begins to fail, and when it is back: requests go on as misses meanwhile, and nobody would know.

use super::boxed;
use crate::errors::Chain;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceExt};
use tower_semcache::Vector;

type Embedder = BoxCloneSyncService<Arc<str>, Vector, BoxError>;

/// The same embedder, whose changes from well to failing and back are told once each.
pub(super) fn told(embedder: Embedder, name: &str) -> Embedder {
    let (failing, name) = (Arc::new(AtomicBool::new(false)), Arc::<str>::from(name));
    boxed(
        embedder.map_result(move |result: Result<Vector, BoxError>| {
            match &result {
                Err(error) if !failing.swap(true, Ordering::Relaxed) => tracing::warn!(
                    "rephrased requests are misses until the embedder {name} answers: {}",
                    Chain(&**error)
                ),
                Ok(_) if failing.swap(false, Ordering::Relaxed) => {
                    tracing::info!(
                        "rephrased requests are matched again: the embedder {name} answers"
                    );
                }
                _ => {}
            }
            result
        }),
    )
}
