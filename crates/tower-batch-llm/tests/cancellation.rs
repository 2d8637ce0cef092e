//! Callers that leave.

mod support;

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use support::{Mock, call, call_all, drain, ms, requests, settle, tenfold};
use tokio::time::{Instant, sleep};
use tokio_test::{assert_pending, assert_ready_ok, task};
use tower::{BoxError, Layer, Service, service_fn};
use tower_batch_llm::{Batch, BatchLayer, Window, batch_fn};

fn layer(max_items: usize) -> BatchLayer<u32, u32> {
    BatchLayer::new(max_items).window(Window::Fixed(ms(6)))
}

/// Counts how many times it was dropped.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn cancelled_items_are_never_sent() {
    let (run, mut seen) = tenfold(ms(0));
    let layer = layer(8);
    let service = layer.layer(batch_fn(run));
    let mut calls = call_all(&service, 0..5).await;
    settle().await;
    drop(calls.remove(3));
    drop(calls.remove(0));
    for call in calls {
        call.await.unwrap();
    }
    let batches: Vec<_> = drain(&mut seen).into_iter().map(|(_, n)| n).collect();
    assert_eq!(batches, [[1, 2, 4]]);
    assert_eq!(layer.stats().snapshot().cancelled, 2);
}

#[tokio::test(start_paused = true)]
async fn cancelled_items_do_not_count_to_the_batch() {
    let (run, mut seen) = tenfold(ms(0));
    let service = layer(4).layer(batch_fn(run));
    let mut calls = call_all(&service, 0..3).await;
    drop(calls.remove(1));
    calls.push(call(&service, 3).await);
    settle().await;
    assert!(drain(&mut seen).is_empty(), "three of four do not fill it");
    calls.push(call(&service, 4).await);
    settle().await;
    assert_eq!(drain(&mut seen), [(ms(0), vec![0, 2, 3, 4])]);
}

#[tokio::test(start_paused = true)]
async fn whoever_leaves_a_full_batch_that_waits_makes_room_for_the_next() {
    let (run, mut seen) = tenfold(ms(10));
    let service = layer(2).max_in_flight(1).layer(batch_fn(run));
    let mut calls = call_all(&service, 0..6).await;
    sleep(ms(1)).await;
    drop(calls.remove(2));
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [(ms(0), vec![0, 1]), (ms(10), vec![3, 4]), (ms(20), vec![5])]
    );
}

#[tokio::test(start_paused = true)]
async fn a_batch_whose_callers_all_left_is_never_sent() {
    let (run, mut seen) = tenfold(ms(0));
    let layer = layer(8);
    let service = layer.layer(batch_fn(run));
    drop(call_all(&service, 0..3).await);
    sleep(ms(50)).await;
    let kept = call_all(&service, 3..6).await;
    settle().await;
    drop(kept);
    sleep(ms(50)).await;
    assert!(drain(&mut seen).is_empty());
    let stats = layer.stats().snapshot();
    assert_eq!((stats.batches, stats.cancelled, stats.queued), (0, 6, 0));
}

#[tokio::test(start_paused = true)]
async fn the_window_of_those_who_stay_starts_with_the_first_of_them() {
    let (run, mut seen) = tenfold(ms(0));
    let service = layer(8).layer(batch_fn(run));
    let first = call(&service, 0).await;
    sleep(ms(4)).await;
    let second = call(&service, 1).await;
    drop(first);
    second.await.unwrap();
    assert_eq!(drain(&mut seen), [(ms(10), vec![1])]);
}

#[tokio::test(start_paused = true)]
async fn a_leaving_item_frees_its_queue_slot_at_once() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    handle.allow(0);
    let service = layer(2).queue_capacity(3).layer(mock);
    let mut calls = call_all(&service, 0..3).await;
    settle().await;
    let mut waiter = task::spawn(service.clone());
    assert_pending!(waiter.enter(|cx, mut service| service.poll_ready(cx)));
    drop(calls.pop());
    settle().await;
    assert!(waiter.is_woken());
    assert_ready_ok!(waiter.enter(|cx, mut service| service.poll_ready(cx)));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_waits_for_is_dropped_at_once() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dropped);
    let layer = layer(3);
    let service = layer.layer(service_fn(move |batch: Batch<u32, u32>| {
        let guard = Guard(Arc::clone(&count));
        async move {
            let _held = (guard, batch);
            pending::<Result<(), BoxError>>().await
        }
    }));
    let mut calls = call_all(&service, 0..3).await;
    settle().await;
    assert_eq!(layer.stats().snapshot().in_flight, 1);
    let start = Instant::now();
    while let Some(call) = calls.pop() {
        assert_eq!(dropped.load(SeqCst), 0, "{} still wait", calls.len() + 1);
        drop(call);
        settle().await;
    }
    assert_eq!(dropped.load(SeqCst), 1);
    assert_eq!(start.elapsed(), ms(0));
    let stats = layer.stats().snapshot();
    assert_eq!((stats.in_flight, stats.abandoned), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_spends_its_budget_in_every_poll_is_dropped_too() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dropped);
    let service = layer(1).layer(service_fn(move |batch: Batch<u32, u32>| {
        let guard = Guard(Arc::clone(&count));
        async move {
            let _held = (guard, batch);
            loop {
                tokio::task::consume_budget().await;
            }
            #[expect(unreachable_code, reason = "gives the block its type")]
            Ok::<(), BoxError>(())
        }
    }));
    let call = call(&service, 1).await;
    settle().await;
    drop(call);
    settle().await;
    assert_eq!(dropped.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_item_is_seen_with_the_cooperative_budget_spent() {
    let (run, mut seen) = tenfold(ms(0));
    let service = layer(8).layer(batch_fn(run));
    let mut early = call_all(&service, 0..3).await;
    settle().await;
    // The worker spends its whole budget on the arrivals, before it can hear of the leaver.
    drop(early.remove(1));
    let _late = call_all(&service, 3..300).await;
    settle().await;
    let mut sent = drain(&mut seen).into_iter().flat_map(|(_, n)| n);
    assert!(sent.by_ref().take(8).eq([0, 2, 3, 4, 5, 6, 7, 8]));
    assert!(sent.eq(9..297));
}

#[tokio::test(start_paused = true)]
async fn a_leaving_item_does_not_cancel_the_call_of_the_others() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(2).layer(mock);
    let mut calls = call_all(&service, 0..2).await;
    let (batch, answer) = handle.next_request().await.unwrap();
    let stays = calls.pop().unwrap();
    drop(calls);
    settle().await;
    let (_, responders) = batch.unzip();
    let closed: Vec<_> = responders.iter().map(|r| r.is_closed()).collect();
    assert_eq!(closed, [true, false]);
    for responder in responders {
        responder.send(Ok(7));
    }
    answer.send_response(());
    assert_eq!(stays.await.unwrap(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_responder_sees_its_caller_leave() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(2).layer(mock);
    let mut calls = call_all(&service, 0..2).await;
    let (batch, _answer) = handle.next_request().await.unwrap();
    let (_, mut responders) = batch.unzip();
    let mut closed = task::spawn(responders[0].closed());
    assert_pending!(closed.poll());
    drop(calls.remove(0));
    assert!(closed.is_woken());
    assert!(closed.poll().is_ready());
}

#[tokio::test(start_paused = true)]
async fn once_everybody_is_answered_the_call_may_finish_its_work() {
    let finished = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&finished);
    let layer = layer(2);
    let service = layer.layer(service_fn(move |batch: Batch<u32, u32>| {
        let count = Arc::clone(&count);
        async move {
            for item in batch {
                item.responder.send(Ok(item.request));
            }
            sleep(ms(5)).await;
            count.fetch_add(1, SeqCst);
            Ok::<(), BoxError>(())
        }
    }));
    for call in call_all(&service, 0..2).await {
        call.await.unwrap();
    }
    assert_eq!(finished.load(SeqCst), 0);
    sleep(ms(6)).await;
    assert_eq!(finished.load(SeqCst), 1);
    assert_eq!(layer.stats().snapshot().abandoned, 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_is_dropped_when_the_rest_is_answered_and_the_last_leaves() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let layer = layer(2);
    let service = layer.layer(mock);
    let mut calls = call_all(&service, 0..2).await;
    let (batch, _answer) = handle.next_request().await.unwrap();
    let mut items = batch.into_iter();
    items.next().unwrap().responder.send(Ok(1));
    assert_eq!(calls.remove(0).await.unwrap(), 1);
    settle().await;
    assert_eq!(layer.stats().snapshot().in_flight, 1);
    drop(calls);
    settle().await;
    let stats = layer.stats().snapshot();
    assert_eq!((stats.in_flight, stats.abandoned), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn every_gauge_and_slot_is_back_after_random_cancels() {
    let (run, _seen) = tenfold(ms(3));
    let layer = layer(4)
        .max_in_flight(2)
        .queue_capacity(32)
        .group_by(|n| n % 3);
    let service = layer.layer(batch_fn(run));
    let mut state = 7_u32;
    let mut tasks = Vec::new();
    for n in 0..2_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let patience = ms(u64::from(state >> 24) / 8);
        let mut service = service.clone();
        tasks.push(tokio::spawn(async move {
            let answer = async { tower::ServiceExt::ready(&mut service).await?.call(n).await };
            match tokio::time::timeout(patience, answer).await {
                Ok(answer) => assert_eq!(answer.unwrap(), n * 10),
                Err(_left) => {}
            }
        }));
        if n % 16 == 0 {
            sleep(ms(1)).await;
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    sleep(ms(50)).await;
    let stats = layer.stats().snapshot();
    assert_eq!((stats.in_flight, stats.queued), (0, 0));
    assert!(stats.cancelled > 0 && stats.items > 0 && stats.failed == 0);
    let mut slots = Vec::new();
    for _ in 0..32 {
        let mut slot = task::spawn(service.clone());
        assert_ready_ok!(slot.enter(|cx, mut service| service.poll_ready(cx)));
        slots.push(slot);
    }
}

#[tokio::test(start_paused = true)]
async fn cancelled_requests_are_dropped_with_their_callers() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(2).layer(mock);
    let mut calls = call_all(&service, 0..4).await;
    drop(calls.drain(1..3));
    let (batch, _answer) = handle.next_request().await.unwrap();
    assert_eq!(requests(&batch), [0, 3]);
}
