//! Inner services made of single calls.

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use support::{call, call_all, find, ms, settle};
use tokio::time::{Instant, sleep};
use tower::{BoxError, Layer, Service, ServiceExt, limit::ConcurrencyLimitLayer, service_fn};
use tower_batch_llm::{Batch, BatchLayer, Item, PerItem, Window, error};

fn layer(max_items: usize) -> BatchLayer<u32, u32> {
    BatchLayer::new(max_items).window(Window::Fixed(ms(6)))
}

/// Takes as many milliseconds as the request says; fails on 7, panics on 13.
async fn take(millis: u32) -> Result<u32, BoxError> {
    sleep(ms(millis.into())).await;
    assert_ne!(millis, 13);
    if millis == 7 {
        return Err("seven".into());
    }
    Ok(millis)
}

#[tokio::test(start_paused = true)]
async fn single_calls_run_at_once_and_short_ones_do_not_wait_for_long_ones() {
    let layer = layer(3);
    let service = layer.layer(PerItem::new(service_fn(take)));
    let start = Instant::now();
    let calls = call_all(&service, [30, 10, 20]).await;
    let mut tasks: Vec<_> = calls
        .into_iter()
        .map(|call| tokio::spawn(async move { (call.await.unwrap(), start.elapsed()) }))
        .collect();
    for task in tasks.drain(..) {
        let (millis, elapsed) = task.await.unwrap();
        assert_eq!(elapsed, ms(millis.into()));
    }
    settle().await;
    assert_eq!(layer.stats().snapshot().in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn single_calls_fail_and_panic_alone() {
    let layer = layer(3);
    let service = layer.layer(PerItem::new(service_fn(take)));
    let mut calls = call_all(&service, [7, 13, 20]).await;
    assert_eq!(calls.pop().unwrap().await.unwrap(), 20);
    let error = calls.pop().unwrap().await.unwrap_err();
    assert!(find::<error::Panicked>(&error).is_some());
    let error = calls.pop().unwrap().await.unwrap_err();
    assert_eq!(error.to_string(), "seven");
    assert_eq!(layer.stats().snapshot().failed, 0);
}

#[tokio::test(start_paused = true)]
async fn the_single_call_of_a_caller_who_left_is_dropped_at_once() {
    let limit = ConcurrencyLimitLayer::new(8);
    let running = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&running);
    let inner = limit.layer(service_fn(move |millis: u32| {
        struct Guard(Arc<AtomicUsize>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.fetch_sub(1, SeqCst);
            }
        }
        count.fetch_add(1, SeqCst);
        let guard = Guard(Arc::clone(&count));
        async move {
            let _guard = guard;
            take(millis).await
        }
    }));
    let service = layer(3).layer(PerItem::new(inner));
    let mut calls = call_all(&service, [100, 100, 100]).await;
    settle().await;
    assert_eq!(running.load(SeqCst), 3);
    drop(calls.pop());
    settle().await;
    assert_eq!(running.load(SeqCst), 2);
    drop(calls);
    settle().await;
    assert_eq!(running.load(SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn single_calls_finish_over_an_inner_limit_of_one() {
    let inner = ConcurrencyLimitLayer::new(1).layer(service_fn(take));
    let service = layer(8).layer(PerItem::new(inner));
    let start = Instant::now();
    for call in call_all(&service, [1; 64]).await {
        call.await.unwrap();
    }
    assert_eq!(start.elapsed(), ms(64));
    assert_eq!(call(&service, 1).await.await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_be_a_stream_that_outlives_the_item() {
    type Tokens = tokio::sync::mpsc::Receiver<u32>;
    let layer = BatchLayer::<u32, Tokens>::new(2).window(Window::Fixed(ms(6)));
    let service = layer.layer(service_fn(|batch: Batch<u32, Tokens>| async move {
        let mut streams = Vec::new();
        for Item { request, responder } in batch {
            let (tokens, stream) = tokio::sync::mpsc::channel(1);
            responder.send(Ok(stream));
            streams.push((request, tokens));
        }
        for step in 0..3 {
            sleep(ms(1)).await;
            for (request, tokens) in &streams {
                // Whoever dropped the stream is passed over.
                let _ = tokens.send(request + step).await;
            }
        }
        Ok::<_, BoxError>(())
    }));
    let mut callers = Vec::new();
    for n in [10, 20] {
        let call = service.clone().ready_oneshot().await.unwrap().call(n);
        callers.push(call);
    }
    let mut kept = callers.pop().unwrap().await.unwrap();
    drop(callers.pop().unwrap().await.unwrap());
    let mut tokens = Vec::new();
    while let Some(token) = kept.recv().await {
        tokens.push(token);
    }
    assert_eq!(tokens, [20, 21, 22]);
    assert_eq!(layer.stats().snapshot().abandoned, 0);
}

#[test]
fn the_inner_service_can_be_reached() {
    let mut per_item = PerItem::new(1);
    *per_item.get_mut() += 1;
    assert_eq!(*per_item.get_ref(), 2);
    assert_eq!(per_item.into_inner(), 2);
}
