//! Ending a run early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Ends a run early: nothing more is sent, what is under way is waited for. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    stopped: AtomicBool,
    notify: Notify,
}

impl Stop {
    /// Sends nothing more.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
        // A permit is kept where nobody waits yet.
        self.0.notify.notify_one();
    }

    /// Whether nothing more is sent.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Waits until nothing more is sent. One waiter at a time.
    pub(super) async fn stopped(&self) {
        while !self.is_stopped() {
            self.0.notify.notified().await;
        }
    }
}
