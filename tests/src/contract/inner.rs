//! A service that watches how it is used.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::coop;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::PollSemaphore;
use tower::BoxError;
use tower_service::Service;

/// Answers `n` with ten times `n`, to as many callers at one time as it is told.
///
/// Strict: called without having been polled ready, it panics. A clone is never ready.
#[derive(Debug)]
pub struct Inner {
    watch: Arc<Watch>,
    places: PollSemaphore,
    place: Option<OwnedSemaphorePermit>,
}

#[derive(Debug)]
struct Watch {
    places: Arc<Semaphore>,
    delay: Duration,
    fate: Fate,
    calls: AtomicUsize,
    alive: AtomicUsize,
    most: AtomicUsize,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Answer,
    /// It panics instead of answering.
    Panic,
    /// It spends the task's cooperative budget at every poll.
    Greedy,
}

// === impl Inner ===

impl Inner {
    fn with(places: usize, delay: Duration, fate: Fate) -> Self {
        let places = Arc::new(Semaphore::new(places));
        Self {
            places: PollSemaphore::new(places.clone()),
            watch: Arc::new(Watch {
                places,
                delay,
                fate,
                calls: AtomicUsize::new(0),
                alive: AtomicUsize::new(0),
                most: AtomicUsize::new(0),
            }),
            place: None,
        }
    }

    /// For at most `places` callers at a time, each of whom waits for `delay`.
    #[must_use]
    pub fn new(places: usize, delay: Duration) -> Self {
        Self::with(places, delay, Fate::Answer)
    }

    /// Panics in each call after `delay`.
    #[must_use]
    pub fn panicking(delay: Duration) -> Self {
        Self::with(1_000, delay, Fate::Panic)
    }

    /// Spends the budget of the task that polls it, and never answers.
    #[must_use]
    pub fn greedy() -> Self {
        Self::with(1_000, Duration::from_secs(1_000_000), Fate::Greedy)
    }

    /// The same, to look at: no clone of its readiness.
    #[must_use]
    pub fn look(&self) -> Self {
        self.clone()
    }

    /// It dies: from now on `poll_ready` fails, for those who wait as well.
    pub fn die(&self) {
        self.watch.places.close();
    }

    /// Calls that were made.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.watch.calls.load(Ordering::SeqCst)
    }

    /// Calls that are running.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.watch.alive.load(Ordering::SeqCst)
    }

    /// The most calls that ever ran at the same time.
    #[must_use]
    pub fn most(&self) -> usize {
        self.watch.most.load(Ordering::SeqCst)
    }

    /// Places that nobody holds.
    #[must_use]
    pub fn free(&self) -> usize {
        self.watch.places.available_permits()
    }
}

impl Clone for Inner {
    /// Shares the places, never the one that this handle holds.
    fn clone(&self) -> Self {
        Self {
            watch: self.watch.clone(),
            places: self.places.clone(),
            place: None,
        }
    }
}

impl Service<u32> for Inner {
    type Response = u32;
    type Error = BoxError;
    type Future = Call;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        if self.place.is_none() {
            self.place = ready!(self.places.poll_acquire(cx));
        }
        Poll::Ready(match self.place {
            Some(_) => Ok(()),
            None => Err("the inner service is dead".into()),
        })
    }

    fn call(&mut self, request: u32) -> Call {
        let place = self.place.take().expect("polled ready before it is called");
        self.watch.calls.fetch_add(1, Ordering::SeqCst);
        let alive = self.watch.alive.fetch_add(1, Ordering::SeqCst) + 1;
        self.watch.most.fetch_max(alive, Ordering::SeqCst);
        Call {
            request,
            sleep: Box::pin(sleep(self.watch.delay)),
            watch: self.watch.clone(),
            _place: place,
        }
    }
}

/// A call that is running.
#[derive(Debug)]
pub struct Call {
    request: u32,
    sleep: Pin<Box<Sleep>>,
    watch: Arc<Watch>,
    _place: OwnedSemaphorePermit,
}

impl Future for Call {
    type Output = Result<u32, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let done = self.sleep.as_mut().poll(cx);
        if self.watch.fate == Fate::Greedy {
            while coop::has_budget_remaining() {
                let _ = pin!(coop::consume_budget()).poll(cx);
            }
        }
        ready!(done);
        assert!(self.watch.fate != Fate::Panic, "told to panic");
        Poll::Ready(Ok(self.request.wrapping_mul(10)))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.watch.alive.fetch_sub(1, Ordering::SeqCst);
    }
}
