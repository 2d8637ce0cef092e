//! Waiting without hanging.

use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// Fails instead of hanging.
///
/// # Panics
/// After 20 s.
pub async fn within<F: Future>(future: F) -> F::Output {
    timeout(PATIENCE, future).await.expect("it hangs")
}

/// Waits until `condition` holds, and says how long that took.
///
/// # Panics
/// After 20 s.
pub async fn until(mut condition: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    within(async {
        while !condition() {
            sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    began.elapsed()
}
