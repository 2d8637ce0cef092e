use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body::Body;
use pin_project_lite::pin_project;
use tokio::runtime::Handle;

/// In a request's extensions: whether its answer is wanted whoever leaves.
#[derive(Clone, Debug, Default)]
pub(in crate::http) struct Wanted(Arc<AtomicBool>);

pin_project! {
    #[project = KindProj]
    pub(super) enum Kind<T> {
        Plain { #[pin] inner: T },
        Kept { inner: Kept<T> },
    }
}

/// Something that goes on when it is dropped before its end.
pub(super) struct Kept<T> {
    /// `None` once it has ended.
    pub(super) inner: Option<Pin<Box<T>>>,
    pub(super) wanted: Wanted,
    pub(super) deadline: Duration,
    pub(super) spawn: fn(Pin<Box<T>>, Duration),
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        if let Some(inner) = self.inner.take()
            && self.wanted.is_set()
        {
            (self.spawn)(inner, self.deadline);
        }
    }
}

// === impl Wanted ===

impl Wanted {
    pub(in crate::http) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Reads a body to its end, for what happens there.
pub(super) async fn drain<B>(mut body: Pin<Box<B>>)
where
    B: Body,
{
    while let Some(Ok(_)) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await {}
}

/// Goes on with `work` for as long as the deadline. It owns what it needs, and ends with the runtime.
pub(super) fn spawn<F>(deadline: Duration, work: F)
where
    F: Future<Output = ()> + Send + 'static,
{
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(tokio::time::timeout(deadline, work));
    }
}
