//! Inner services whose every step the test decides.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::allow_attributes, reason = "see above")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Counts the calls made and the calls alive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    made: Arc<AtomicUsize>,
    alive: Arc<AtomicUsize>,
}

/// A call that is alive until it is dropped.
#[derive(Debug)]
pub(crate) struct Alive(Arc<AtomicUsize>);

impl Calls {
    pub(crate) fn enter(&self) -> Alive {
        self.made.fetch_add(1, Ordering::SeqCst);
        self.alive.fetch_add(1, Ordering::SeqCst);
        Alive(Arc::clone(&self.alive))
    }

    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }

    pub(crate) fn alive(&self) -> usize {
        self.alive.load(Ordering::SeqCst)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Counts how often a future is polled.
pub(crate) struct Counted<F> {
    inner: Pin<Box<F>>,
    polls: Arc<AtomicUsize>,
}

impl<F> Counted<F> {
    pub(crate) fn new(inner: F, polls: &Arc<AtomicUsize>) -> Self {
        Self {
            inner: Box::pin(inner),
            polls: Arc::clone(polls),
        }
    }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.polls.fetch_add(1, Ordering::SeqCst);
        self.inner.as_mut().poll(cx)
    }
}

/// A waker that writes its number into a list.
pub(crate) struct Numbered(usize, Arc<parking_lot::Mutex<Vec<usize>>>);

impl Wake for Numbered {
    fn wake(self: Arc<Self>) {
        self.1.lock().push(self.0);
    }
}

pub(crate) fn numbered(n: usize, list: &Arc<parking_lot::Mutex<Vec<usize>>>) -> Waker {
    Arc::new(Numbered(n, Arc::clone(list))).into()
}

/// Lets every task that can run do so.
pub(crate) async fn settle() {
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
}

/// Finds an error of type `E` in the chain of sources, the first included.
pub(crate) fn find<'a, E: std::error::Error + 'static>(
    error: &'a (dyn std::error::Error + 'static),
) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
