//! Readiness, clones and queue slots.

mod support;

use std::task::Poll;

use support::{Mock, call, call_all, find, ms, requests, settle, tenfold};
use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok, task};
use tower::{Layer, Service, ServiceExt, limit::ConcurrencyLimitLayer};
use tower_batch_llm::{BatchLayer, Batcher, Window, batch_fn, error};

fn layer(max_items: usize) -> BatchLayer<u32, u32> {
    BatchLayer::new(max_items).window(Window::Fixed(ms(6)))
}

type Polled = Poll<Result<(), tower::BoxError>>;

fn poll_ready(service: &mut task::Spawn<Batcher<u32, u32>>) -> Polled {
    service.enter(|cx, mut service| service.poll_ready(cx))
}

#[tokio::test(start_paused = true)]
async fn capacity_n_admits_exactly_n() {
    let (mock, mut handle) = tower_test::mock::pair::<_, ()>();
    handle.allow(0);
    let service = layer(2).queue_capacity(5).layer(mock);
    let _calls = call_all(&service, 0..5).await;
    settle().await;
    let mut sixth = task::spawn(service.clone());
    assert_pending!(poll_ready(&mut sixth));
    handle.allow(1);
    settle().await;
    assert!(sixth.is_woken(), "a batch of two left the queue");
    assert_ready_ok!(poll_ready(&mut sixth));
    let mut seventh = task::spawn(service.clone());
    assert_ready_ok!(poll_ready(&mut seventh));
    let mut eighth = task::spawn(service.clone());
    assert_pending!(poll_ready(&mut eighth));
}

#[tokio::test(start_paused = true)]
async fn poll_ready_twice_takes_one_slot() {
    let (mock, _handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(8).queue_capacity(2).layer(mock);
    let mut one = task::spawn(service.clone());
    for _ in 0..3 {
        assert_ready_ok!(poll_ready(&mut one));
    }
    let mut two = task::spawn(service.clone());
    assert_ready_ok!(poll_ready(&mut two));
    let mut three = task::spawn(service);
    assert_pending!(poll_ready(&mut three));
}

#[tokio::test(start_paused = true)]
async fn a_reserved_slot_is_free_again_when_its_handle_is_dropped() {
    let (mock, _handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(8).queue_capacity(1).layer(mock);
    let mut holder = task::spawn(service.clone());
    assert_ready_ok!(poll_ready(&mut holder));
    let mut waiter = task::spawn(service);
    assert_pending!(poll_ready(&mut waiter));
    drop(holder);
    assert!(waiter.is_woken());
    assert_ready_ok!(poll_ready(&mut waiter));
}

#[tokio::test(start_paused = true)]
async fn a_clone_is_not_ready_because_its_original_was() {
    let (mock, _handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(8).queue_capacity(1).layer(mock);
    let mut original = task::spawn(service);
    assert_ready_ok!(poll_ready(&mut original));
    let mut clone = task::spawn((*original).clone());
    assert_pending!(poll_ready(&mut clone));
    assert_ready_ok!(poll_ready(&mut original));
}

#[tokio::test(start_paused = true)]
async fn a_call_without_readiness_is_a_typed_error() {
    let (mock, _handle): (Mock, _) = tower_test::mock::pair();
    let mut service = layer(8).layer(mock);
    let error = service.call(1).await.unwrap_err();
    assert!(find::<error::NotReady>(&error).is_some());
    service.ready().await.unwrap();
    let _first = service.call(1);
    let error = service.call(2).await.unwrap_err();
    assert!(find::<error::NotReady>(&error).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_thousand_sequential_requests_finish_over_an_inner_limit_of_one() {
    let (run, _seen) = tenfold(ms(1));
    let inner = ConcurrencyLimitLayer::new(1).layer(batch_fn(run));
    let service = layer(1).layer(inner);
    for n in 0..1_000 {
        assert_eq!(service.clone().oneshot(n).await.unwrap(), n * 10);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_requests_at_once_finish_with_every_limit_at_one() {
    let (run, mut seen) = tenfold(ms(1));
    let inner = ConcurrencyLimitLayer::new(1).layer(batch_fn(run));
    let service = layer(1).max_in_flight(1).queue_capacity(1).layer(inner);
    let tasks: Vec<_> = (0..100)
        .map(|n| tokio::spawn(service.clone().oneshot(n)))
        .collect();
    for (n, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.unwrap().unwrap(), n as u32 * 10);
    }
    assert_eq!(support::drain(&mut seen).len(), 100);
}

#[tokio::test(start_paused = true)]
async fn the_batch_fills_while_the_inner_service_is_not_ready() {
    let (mock, mut handle) = tower_test::mock::pair::<_, ()>();
    handle.allow(0);
    let service = layer(8).layer(mock);
    let _early = call_all(&service, 0..2).await;
    tokio::time::sleep(ms(20)).await;
    let _late = call_all(&service, 2..5).await;
    settle().await;
    handle.allow(1);
    let (batch, _answer) = handle.next_request().await.unwrap();
    assert_eq!(requests(&batch), [0, 1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn an_idle_batcher_holds_no_capacity_of_the_inner_service() {
    let (run, _seen) = tenfold(ms(0));
    let mut inner = ConcurrencyLimitLayer::new(1).layer(batch_fn(run));
    let service = layer(1).layer(inner.clone());

    // While the only permit is out, a batch comes to wait for it, and its caller leaves.
    let mut holder = task::spawn(inner.clone());
    assert_ready_ok!(holder.enter(|cx, mut inner| {
        Service::<tower_batch_llm::Batch<u32, u32>>::poll_ready(&mut *inner, cx)
    }));
    let waiting = call(&service, 1).await;
    settle().await;
    drop(waiting);
    settle().await;
    drop(holder);
    settle().await;

    let ready = ServiceExt::<tower_batch_llm::Batch<u32, u32>>::ready(&mut inner);
    assert!(task::spawn(ready).poll().is_ready(), "the permit is free");
}

#[test]
fn the_death_of_the_worker_wakes_everybody_with_the_same_error() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let (mock, mut handle) = tower_test::mock::pair::<_, ()>();
    let (service, running, queued) = runtime.block_on(async {
        let service = layer(1).max_in_flight(1).queue_capacity(1).layer(mock);
        let running = call(&service, 1).await;
        let (batch, answer) = handle.next_request().await.unwrap();
        let queued = call(&service, 2).await;
        tokio::task::yield_now().await;
        // The call never ends by itself.
        std::mem::forget((batch, answer));
        (service, running, queued)
    });
    let mut running = task::spawn(running);
    let mut queued = task::spawn(queued);
    let mut waiting = task::spawn(service.clone());
    assert_pending!(running.poll());
    assert_pending!(queued.poll());
    assert_pending!(poll_ready(&mut waiting));

    drop(runtime);

    assert!(running.is_woken() && queued.is_woken() && waiting.is_woken());
    for error in [
        assert_ready_err!(running.poll()),
        assert_ready_err!(queued.poll()),
        assert_ready_err!(poll_ready(&mut waiting)),
        assert_ready_err!(poll_ready(&mut waiting)),
        assert_ready_err!(poll_ready(&mut task::spawn(service.clone()))),
    ] {
        assert!(find::<error::Closed>(&error).is_some(), "{error}");
    }
}

/// A key that cannot be hashed when it is 3.
#[derive(Clone, PartialEq, Eq)]
struct Key(u32);

impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        assert_ne!(self.0, 3);
        self.0.hash(state);
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_killed_by_a_panic_wakes_everybody_with_the_same_error() {
    let (mock, _handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(8).queue_capacity(2).group_by(|n| Key(*n)).layer(mock);
    let mut queued = task::spawn(call(&service, 1).await);
    let mut deadly = task::spawn(call(&service, 3).await);
    let mut waiting = task::spawn(service.clone());
    assert_pending!(poll_ready(&mut waiting));
    assert_pending!(queued.poll());
    settle().await;
    assert!(queued.is_woken() && waiting.is_woken());
    for error in [
        assert_ready_err!(queued.poll()),
        assert_ready_err!(deadly.poll()),
        assert_ready_err!(poll_ready(&mut waiting)),
        assert_ready_err!(poll_ready(&mut waiting)),
    ] {
        assert!(find::<error::Closed>(&error).is_some(), "{error}");
    }
}

#[test]
fn the_death_of_the_worker_wakes_those_who_wait_for_a_slot_that_others_hold() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let (mock, _handle): (Mock, _) = tower_test::mock::pair();
    let service = runtime.block_on(async { layer(1).queue_capacity(1).layer(mock) });
    let mut holder = task::spawn(service.clone());
    assert_ready_ok!(poll_ready(&mut holder));
    let mut waiters: Vec<_> = (0..3).map(|_| task::spawn(service.clone())).collect();
    for waiter in &mut waiters {
        assert_pending!(poll_ready(waiter));
    }
    drop(runtime);
    for waiter in &mut waiters {
        assert!(waiter.is_woken());
        let error = assert_ready_err!(poll_ready(waiter));
        assert!(find::<error::Closed>(&error).is_some());
    }
}

#[test]
fn a_slot_reserved_before_the_worker_died_is_no_promise() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let (mock, _handle): (Mock, _) = tower_test::mock::pair();
    let mut service = runtime.block_on(async {
        let mut service = layer(1).layer(mock);
        service.ready().await.unwrap();
        service
    });
    drop(runtime);
    let error = assert_ready_err!(task::spawn(service.call(1)).poll());
    assert!(find::<error::Closed>(&error).is_some());
    let error = assert_ready_err!(poll_ready(&mut task::spawn(service)));
    assert!(find::<error::Closed>(&error).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_waiter_is_woken_once_and_polled_twice() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(1).layer(mock);
    let mut waiter = task::spawn(call(&service, 4).await);
    assert_pending!(waiter.poll());
    let (batch, answer) = handle.next_request().await.unwrap();
    settle().await;
    assert!(!waiter.is_woken(), "nothing has happened to it yet");
    for item in batch {
        item.responder.send(Ok(40));
    }
    answer.send_response(());
    settle().await;
    assert!(waiter.is_woken());
    assert_eq!(assert_ready_ok!(waiter.poll()), 40);
}
