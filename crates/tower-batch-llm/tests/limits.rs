//! Costs, oversized items, batches in flight, groups.

mod support;

use support::{call, call_all, drain, find, ms, settle, tenfold};
use tokio::time::sleep;
use tower::Layer;
use tower_batch_llm::{BatchLayer, Oversized, Window, batch_fn, cost, error};

fn layer(max_items: usize) -> BatchLayer<u32, u32> {
    BatchLayer::new(max_items).window(Window::Fixed(ms(6)))
}

#[tokio::test(start_paused = true)]
async fn a_batch_goes_when_the_next_item_would_cost_too_much() {
    let (run, mut seen) = tenfold(ms(0));
    let service = layer(8)
        .max_cost(10, cost::sum(|n: &u32| u64::from(*n)))
        .layer(batch_fn(run));
    for call in call_all(&service, [4, 5, 3, 7, 1]).await {
        call.await.unwrap();
    }
    // 3 + 7 reaches the limit, so it is full as well.
    assert_eq!(
        drain(&mut seen),
        [(ms(0), vec![4, 5]), (ms(0), vec![3, 7]), (ms(6), vec![1])]
    );
}

#[tokio::test(start_paused = true)]
async fn padding_counts() {
    let (run, mut seen) = tenfold(ms(0));
    let service = layer(8)
        .max_cost(40, cost::padded(|n: &u32| u64::from(*n)))
        .layer(batch_fn(run));
    // Four short ones cost 4 × 4; with a long one, all are padded: 5 × 30.
    for call in call_all(&service, [4, 3, 4, 2, 30, 1]).await {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [
            (ms(0), vec![4, 3, 4, 2]),
            (ms(0), vec![30]),
            (ms(6), vec![1])
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_cost_function_sees_the_batch_so_far() {
    let (run, mut seen) = tenfold(ms(0));
    // At most two distinct numbers a batch.
    let service = layer(8)
        .max_cost(2, |batch, next: &u32| {
            assert_eq!(batch.len(), batch.requests().len());
            let known = batch.requests().any(|n| n == next);
            batch.cost() + u64::from(!known)
        })
        .max_in_flight(1)
        .layer(batch_fn(run));
    for call in call_all(&service, [1, 1, 1, 2, 3]).await {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [(ms(0), vec![1, 1, 1, 2]), (ms(6), vec![3])]
    );
}

#[tokio::test(start_paused = true)]
async fn the_batch_knows_its_cost() {
    let (mock, mut handle) = tower_test::mock::pair::<_, ()>();
    let layer = layer(2);
    let service = layer
        .clone()
        .max_cost(10, cost::sum(|n: &u32| u64::from(*n)))
        .layer(mock.clone());
    let _calls = call_all(&service, [3, 4]).await;
    let (batch, _answer) = handle.next_request().await.unwrap();
    assert_eq!((batch.len(), batch.cost()), (2, 7));
    let service = layer.layer(mock);
    let _more = call_all(&service, [3, 4]).await;
    let (batch, _answer) = handle.next_request().await.unwrap();
    assert_eq!((batch.len(), batch.cost()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn an_oversized_item_goes_alone() {
    let (run, mut seen) = tenfold(ms(0));
    let service = layer(8)
        .max_cost(10, cost::sum(|n: &u32| u64::from(*n)))
        .layer(batch_fn(run));
    for call in call_all(&service, [2, 99, 3]).await {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [(ms(0), vec![2]), (ms(0), vec![99]), (ms(6), vec![3])]
    );
}

#[tokio::test(start_paused = true)]
async fn an_oversized_item_is_refused_if_so_set() {
    let (run, mut seen) = tenfold(ms(0));
    let layer = layer(8)
        .max_cost(10, cost::sum(|n: &u32| u64::from(*n)))
        .oversized(Oversized::Refuse);
    let service = layer.layer(batch_fn(run));
    let mut calls = call_all(&service, [2, 99, 3, 10]).await;
    let error = calls.remove(1).await.unwrap_err();
    let refused = find::<error::TooLarge>(&error).unwrap();
    assert_eq!((refused.cost(), refused.limit()), (99, 10));
    for call in calls {
        call.await.unwrap();
    }
    // The refused one did not split the batch; what costs just the limit may come in.
    assert_eq!(drain(&mut seen), [(ms(0), vec![2, 3]), (ms(0), vec![10])]);
    assert_eq!(layer.stats().snapshot().refused, 1);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_max_in_flight_batches_run_at_once() {
    let (run, mut seen) = tenfold(ms(10));
    let layer = layer(1).max_in_flight(3);
    let service = layer.layer(batch_fn(run));
    let calls = call_all(&service, 0..7).await;
    settle().await;
    let stats = layer.stats().snapshot();
    assert_eq!((stats.in_flight, stats.queued), (3, 4));
    for call in calls {
        call.await.unwrap();
    }
    let times: Vec<_> = drain(&mut seen).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [0, 0, 0, 10, 10, 10, 20].map(ms));
}

#[tokio::test(start_paused = true)]
async fn zeros_are_taken_as_ones() {
    let (run, mut seen) = tenfold(ms(0));
    let service = layer(0)
        .max_in_flight(0)
        .queue_capacity(0)
        .window(Window::Fixed(ms(0)))
        .layer(batch_fn(run));
    for n in 0..3 {
        call(&service, n).await.await.unwrap();
    }
    assert_eq!(drain(&mut seen).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn groups_never_mix_and_have_windows_of_their_own() {
    let (run, mut seen) = tenfold(ms(0));
    let layer = layer(3).group_by(|n| n % 2);
    let service = layer.layer(batch_fn(run));
    let mut calls = call_all(&service, [0, 1, 2]).await;
    sleep(ms(2)).await;
    calls.extend(call_all(&service, [3, 4, 5, 7, 6]).await);
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(
        drain(&mut seen),
        [
            (ms(2), vec![0, 2, 4]),
            (ms(2), vec![1, 3, 5]),
            (ms(8), vec![7]),
            (ms(8), vec![6])
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn of_several_groups_that_are_due_the_oldest_goes_first() {
    let (run, mut seen) = tenfold(ms(10));
    let service = layer(8)
        .max_in_flight(1)
        .group_by(|n| n / 10)
        .layer(batch_fn(run));
    for call in call_all(&service, [90, 10, 50, 91, 30, 11]).await {
        call.await.unwrap();
    }
    let batches: Vec<_> = drain(&mut seen).into_iter().map(|(_, n)| n).collect();
    assert_eq!(batches, [vec![90, 91], vec![10, 11], vec![50], vec![30]]);
}

#[tokio::test(start_paused = true)]
async fn the_histogram_counts_batches_by_size() {
    let (run, _seen) = tenfold(ms(0));
    let layer = layer(3);
    let stats = layer.stats();
    assert_eq!(stats.snapshot().mean_size(), None);
    let service = layer.layer(batch_fn(run));
    for call in call_all(&service, 0..7).await {
        call.await.unwrap();
    }
    let snapshot = stats.snapshot();
    assert_eq!(snapshot.sizes, [1, 0, 2]);
    let of = |items| snapshot.batches_of(items);
    assert_eq!((of(0), of(1), of(2), of(3), of(4)), (0, 1, 0, 2, 0));
    assert_eq!((snapshot.batches, snapshot.items), (3, 7));
    assert_eq!(snapshot.mean_size(), Some(7.0 / 3.0));
}
