//! When batches go.

mod support;

use support::{call, call_all, drain, ms, settle, tenfold};
use tokio::time::{Instant, sleep};
use tower::Layer;
use tower_batch_llm::{BatchLayer, Batcher, Window, batch_fn};

fn fixed(max_items: usize) -> BatchLayer<u32, u32> {
    BatchLayer::new(max_items).window(Window::Fixed(ms(6)))
}

fn while_busy(max_items: usize) -> BatchLayer<u32, u32> {
    BatchLayer::new(max_items).window(Window::WhileBusy(ms(6)))
}

#[tokio::test(start_paused = true)]
async fn sixteen_at_once_go_as_eight_and_eight_without_a_wait() {
    let (run, mut seen) = tenfold(ms(0));
    let service = fixed(8).layer(batch_fn(run));
    let calls = call_all(&service, 0..16).await;
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), n as u32 * 10);
    }
    assert_eq!(
        drain(&mut seen),
        [
            (ms(0), (0..8).collect::<Vec<_>>()),
            (ms(0), (8..16).collect())
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn three_go_as_one_batch_exactly_when_the_window_ends() {
    let (run, mut seen) = tenfold(ms(0));
    let service = fixed(8).layer(batch_fn(run));
    for call in call_all(&service, 0..3).await {
        call.await.unwrap();
    }
    assert_eq!(drain(&mut seen), [(ms(6), vec![0, 1, 2])]);
}

#[tokio::test(start_paused = true)]
async fn the_window_runs_from_the_first_item_of_the_batch() {
    let (run, mut seen) = tenfold(ms(0));
    let service = fixed(8).layer(batch_fn(run));
    sleep(ms(10)).await;
    let first = call(&service, 1).await;
    sleep(ms(5)).await;
    let second = call(&service, 2).await;
    first.await.unwrap();
    second.await.unwrap();
    assert_eq!(drain(&mut seen), [(ms(16), vec![1, 2])]);
}

#[tokio::test(start_paused = true)]
async fn what_is_left_by_a_full_batch_keeps_a_window_of_its_own() {
    let (run, mut seen) = tenfold(ms(0));
    let service = fixed(4).layer(batch_fn(run));
    let early = call_all(&service, 0..3).await;
    sleep(ms(4)).await;
    let late = call_all(&service, 3..6).await;
    for call in early.into_iter().chain(late) {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [(ms(4), vec![0, 1, 2, 3]), (ms(10), vec![4, 5])]
    );
}

#[tokio::test(start_paused = true)]
async fn a_steady_stream_of_new_items_never_starves_the_timer() {
    let (run, mut seen) = tenfold(ms(0));
    let service = fixed(1_000_000)
        .queue_capacity(1_000_000)
        .layer(batch_fn(run));
    let start = Instant::now();
    let mut calls = Vec::new();
    while start.elapsed() < ms(20) {
        calls.extend(call_all(&service, 0..300).await);
        settle().await;
        tokio::time::advance(ms(1)).await;
        settle().await;
    }
    let times: Vec<_> = drain(&mut seen).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [ms(6), ms(12), ms(18)]);
}

#[tokio::test(start_paused = true)]
async fn a_window_too_long_for_the_clock_still_sends_full_batches() {
    let (run, mut seen) = tenfold(ms(0));
    let service = fixed(2)
        .window(Window::Fixed(std::time::Duration::MAX))
        .layer(batch_fn(run));
    for call in call_all(&service, 0..2).await {
        call.await.unwrap();
    }
    assert_eq!(drain(&mut seen), [(ms(0), vec![0, 1])]);
}

#[tokio::test(start_paused = true)]
async fn an_idle_batcher_sends_a_lone_item_at_once() {
    let (run, mut seen) = tenfold(ms(1));
    let service = while_busy(8).layer(batch_fn(run));
    for n in 0..3 {
        call(&service, n).await.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [(ms(0), vec![0]), (ms(1), vec![1]), (ms(2), vec![2])]
    );
}

#[tokio::test(start_paused = true)]
async fn a_busy_batcher_waits_for_the_running_batch_to_end() {
    let (run, mut seen) = tenfold(ms(4));
    let service = while_busy(8).layer(batch_fn(run));
    let first = call(&service, 0).await;
    settle().await;
    let rest = call_all(&service, 1..4).await;
    first.await.unwrap();
    for call in rest {
        call.await.unwrap();
    }
    assert_eq!(drain(&mut seen), [(ms(0), vec![0]), (ms(4), vec![1, 2, 3])]);
}

#[tokio::test(start_paused = true)]
async fn a_busy_batcher_waits_no_longer_than_its_window() {
    let (run, mut seen) = tenfold(ms(100));
    let service = while_busy(8).layer(batch_fn(run));
    let _running = call(&service, 0).await;
    sleep(ms(10)).await;
    for call in call_all(&service, 1..4).await {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [(ms(0), vec![0]), (ms(16), vec![1, 2, 3])]
    );
}

#[tokio::test(start_paused = true)]
async fn a_busy_batcher_sends_a_full_batch_at_once() {
    let (run, mut seen) = tenfold(ms(100));
    let service = while_busy(2).layer(batch_fn(run));
    let _running = call(&service, 0).await;
    settle().await;
    for call in call_all(&service, 1..5).await {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [(ms(0), vec![0]), (ms(0), vec![1, 2]), (ms(0), vec![3, 4])]
    );
}

#[tokio::test(start_paused = true)]
async fn a_batch_held_back_by_the_limit_goes_on_filling() {
    let (run, mut seen) = tenfold(ms(20));
    let service: Batcher<u32, u32> = fixed(8).max_in_flight(1).layer(batch_fn(run));
    let mut calls = call_all(&service, 0..8).await;
    sleep(ms(1)).await;
    calls.push(call(&service, 8).await);
    sleep(ms(15)).await;
    calls.push(call(&service, 9).await);
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [(ms(0), (0..8).collect()), (ms(20), vec![8, 9])]
    );
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_sends_what_it_has() {
    let (run, mut seen) = tenfold(ms(0));
    let service = fixed(8).queue_capacity(3).layer(batch_fn(run));
    for call in call_all(&service, 0..3).await {
        call.await.unwrap();
    }
    assert_eq!(drain(&mut seen), [(ms(0), vec![0, 1, 2])]);
}
