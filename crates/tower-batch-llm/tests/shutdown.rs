//! The end of a batcher.

mod support;

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll},
};

use support::{Mock, call, call_all, drain, ms, settle, tenfold};
use tokio::time::{Instant, sleep};
use tokio_test::{assert_pending, task};
use tower::{BoxError, Layer, Service};
use tower_batch_llm::{Batch, BatchLayer, Window, batch_fn};

fn layer(max_items: usize) -> BatchLayer<u32, u32> {
    BatchLayer::new(max_items).window(Window::Fixed(ms(6)))
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_handle_flushes_what_is_queued() {
    let (run, mut seen) = tenfold(ms(3));
    let service = layer(8).layer(batch_fn(run));
    let clone = service.clone();
    let calls = call_all(&service, 0..3).await;
    drop(service);
    sleep(ms(1)).await;
    assert!(drain(&mut seen).is_empty(), "a handle is left");
    drop(clone);
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), n as u32 * 10);
    }
    assert_eq!(drain(&mut seen), [(ms(1), vec![0, 1, 2])]);
}

#[tokio::test(start_paused = true)]
async fn the_flush_keeps_to_every_limit() {
    let (run, mut seen) = tenfold(ms(10));
    let service = layer(2)
        .max_in_flight(1)
        .group_by(|n| n % 2)
        .layer(batch_fn(run));
    let calls = call_all(&service, 0..7).await;
    drop(service);
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [
            (ms(0), vec![0, 2]),
            (ms(10), vec![1, 3]),
            (ms(20), vec![4, 6]),
            (ms(30), vec![5])
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_running_batch_finishes_after_the_last_handle() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(1).layer(mock);
    let running = call(&service, 1).await;
    let (batch, answer) = handle.next_request().await.unwrap();
    drop(service);
    sleep(ms(1_000)).await;
    for item in batch {
        item.responder.send(Ok(11));
    }
    answer.send_response(());
    assert_eq!(running.await.unwrap(), 11);
}

/// An inner service that shows whether anything of it still lives.
#[derive(Clone)]
struct Alive {
    _life: Arc<()>,
    polls: Arc<AtomicUsize>,
    ready: bool,
}

impl Alive {
    fn new(ready: bool) -> (Self, Weak<()>) {
        let life = Arc::new(());
        let weak = Arc::downgrade(&life);
        let polls = Arc::default();
        (
            Self {
                _life: life,
                polls,
                ready,
            },
            weak,
        )
    }
}

impl Service<Batch<u32, u32>> for Alive {
    type Response = ();
    type Error = BoxError;
    type Future = std::future::Pending<Result<(), BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.polls.fetch_add(1, SeqCst);
        if self.ready {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    }

    fn call(&mut self, _: Batch<u32, u32>) -> Self::Future {
        std::future::pending()
    }
}

#[tokio::test(start_paused = true)]
async fn no_task_outlives_the_handles_and_the_callers() {
    for ready in [true, false] {
        let (alive, life) = Alive::new(ready);
        let service = layer(1).layer(alive);
        let calls = call_all(&service, 0..3).await;
        settle().await;
        drop(service);
        settle().await;
        assert!(life.upgrade().is_some(), "the callers still wait");
        drop(calls);
        settle().await;
        assert!(life.upgrade().is_none());
        let metrics = tokio::runtime::Handle::current().metrics();
        assert_eq!(metrics.num_alive_tasks(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn fifteen_waiters_over_a_service_that_is_not_ready_poll_nothing_in_vain() {
    let (alive, _life) = Alive::new(false);
    let polls = Arc::clone(&alive.polls);
    let service = layer(4).queue_capacity(8).layer(alive);
    let _calls = call_all(&service, 0..8).await;
    let mut waiters: Vec<_> = (0..15).map(|_| task::spawn(service.clone())).collect();
    for waiter in &mut waiters {
        assert_pending!(waiter.enter(|cx, mut service| service.poll_ready(cx)));
    }
    let start = Instant::now();
    sleep(ms(1_000)).await;
    assert_eq!(start.elapsed(), ms(1_000));
    assert!(waiters.iter().all(|waiter| !waiter.is_woken()));
    // Once for the arrivals and once for each end of a window, at most.
    assert!(polls.load(SeqCst) <= 4, "{} polls", polls.load(SeqCst));
}
