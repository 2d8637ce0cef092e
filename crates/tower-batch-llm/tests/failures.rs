//! Errors and panics stay with their batch.

mod support;

use std::{
    error::Error,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll},
};

use support::{Mock, call, call_all, find, ms, settle};
use tokio_test::{assert_pending, task};
use tower::{BoxError, Layer, Service, service_fn};
use tower_batch_llm::{Batch, BatchLayer, Window, batch_fn, error};

fn layer(max_items: usize) -> BatchLayer<u32, u32> {
    BatchLayer::new(max_items).window(Window::Fixed(ms(6)))
}

#[derive(Debug, PartialEq)]
struct Broken(u32);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken: {}", self.0)
    }
}

impl Error for Broken {}

/// Fails the batches that hold an odd number.
async fn dislikes_odd(requests: Vec<u32>) -> Result<Vec<Result<u32, BoxError>>, Broken> {
    match requests.iter().find(|n| *n % 2 == 1) {
        Some(n) => Err(Broken(*n)),
        None => Ok(requests.into_iter().map(Ok).collect()),
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_reaches_every_item_of_its_batch_and_nobody_else() {
    let layer = layer(2);
    let service = layer.layer(batch_fn(dislikes_odd));
    let calls = call_all(&service, [0, 1, 2, 4]).await;
    let mut sources = Vec::new();
    for (n, call) in calls.into_iter().enumerate() {
        match call.await {
            Ok(_) => assert!(n >= 2),
            Err(error) => {
                assert!(find::<error::Failed>(&error).is_some());
                let source = find::<Broken>(&error).expect("the original is in the chain");
                assert_eq!(source, &Broken(1));
                sources.push(std::ptr::from_ref(source) as usize);
            }
        }
    }
    assert_eq!(sources.len(), 2);
    assert_eq!(sources[0], sources[1], "one error, shared");
    assert_eq!(call(&service, 6).await.await.unwrap(), 6);
    assert_eq!(layer.stats().snapshot().failed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_typed_error_of_its_batch() {
    let layer = layer(2);
    let service = layer.layer(batch_fn(|requests: Vec<u32>| async move {
        assert!(!requests.contains(&1), "there is a {}", 1);
        Ok::<_, BoxError>(requests.into_iter().map(Ok).collect())
    }));
    let calls = call_all(&service, [0, 1, 2, 3]).await;
    for (n, call) in calls.into_iter().enumerate() {
        match call.await {
            Ok(_) => assert!(n >= 2),
            Err(error) => {
                let panicked = find::<error::Panicked>(&error).unwrap();
                assert_eq!(panicked.message(), "there is a 1");
                assert!(n < 2);
            }
        }
    }
    assert_eq!(layer.stats().snapshot().failed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_before_the_future_exists_is_a_typed_error_too() {
    let service = layer(1).layer(service_fn(|batch: Batch<u32, u32>| {
        assert!(batch.iter().all(|item| item.request != 1));
        async move {
            for item in batch {
                item.responder.send(Ok(item.request));
            }
            Ok::<_, BoxError>(())
        }
    }));
    let error = call(&service, 1).await.await.unwrap_err();
    assert!(find::<error::Panicked>(&error).is_some());
    assert_eq!(call(&service, 2).await.await.unwrap(), 2);
}

/// What happens in the n-th `poll_ready`, over all clones.
#[derive(Clone)]
struct Moody {
    polls: Arc<AtomicUsize>,
}

impl Service<Batch<u32, u32>> for Moody {
    type Response = ();
    type Error = BoxError;
    type Future = std::future::Ready<Result<(), BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let polls = self.polls.fetch_add(1, SeqCst);
        assert_ne!(polls, 1, "not today");
        Poll::Ready(if polls == 0 {
            Err(Box::new(Broken(0)))
        } else {
            Ok(())
        })
    }

    fn call(&mut self, batch: Batch<u32, u32>) -> Self::Future {
        for item in batch {
            item.responder.send(Ok(item.request));
        }
        std::future::ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_fails_to_get_ready_fails_that_batch_only() {
    let layer = layer(1);
    let service = layer.layer(Moody {
        polls: Arc::new(AtomicUsize::new(0)),
    });
    let error = call(&service, 1).await.await.unwrap_err();
    assert_eq!(find::<Broken>(&error), Some(&Broken(0)));
    let error = call(&service, 2).await.await.unwrap_err();
    assert!(find::<error::Panicked>(&error).is_some());
    assert_eq!(call(&service, 3).await.await.unwrap(), 3);
    let stats = layer.stats().snapshot();
    assert_eq!((stats.failed, stats.batches), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn an_item_answered_before_the_call_failed_keeps_its_answer() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(2).layer(mock);
    let mut calls = call_all(&service, 0..2).await;
    let (batch, answer) = handle.next_request().await.unwrap();
    let mut items = batch.into_iter();
    items.next().unwrap().responder.send(Ok(5));
    answer.send_error(Broken(9));
    settle().await;
    let error = calls.pop().unwrap().await.unwrap_err();
    assert_eq!(find::<Broken>(&error), Some(&Broken(9)));
    assert_eq!(calls.pop().unwrap().await.unwrap(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_error_of_one_item_is_its_own() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(2).layer(mock);
    let mut calls = call_all(&service, 0..2).await;
    let (batch, answer) = handle.next_request().await.unwrap();
    for item in batch {
        item.responder.send(match item.request {
            0 => Err(Box::new(Broken(0))),
            n => Ok(n),
        });
    }
    answer.send_response(());
    assert_eq!(calls.pop().unwrap().await.unwrap(), 1);
    let error = calls.pop().unwrap().await.unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&Broken(0)));
}

#[tokio::test(start_paused = true)]
async fn a_responder_dropped_without_an_answer_is_a_typed_error() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let service = layer(2).layer(mock);
    let mut calls = call_all(&service, 0..2).await;
    let (batch, answer) = handle.next_request().await.unwrap();
    let (_, mut responders) = batch.unzip();
    responders.pop().unwrap().send(Ok(1));
    drop(responders);
    settle().await;
    let mut forgotten = task::spawn(calls.remove(0));
    assert_pending!(forgotten.poll(), "the call may still tell why");
    answer.send_response(());
    settle().await;
    assert!(forgotten.is_woken());
    let error = forgotten.await.unwrap_err();
    assert!(find::<error::Unanswered>(&error).is_some());
    assert_eq!(calls.remove(0).await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_responder_may_outlive_its_call() {
    let (mock, mut handle): (Mock, _) = tower_test::mock::pair();
    let layer = layer(2);
    let service = layer.layer(mock);
    let mut calls = call_all(&service, 0..2).await;
    let (batch, answer) = handle.next_request().await.unwrap();
    let (_, mut responders) = batch.unzip();
    answer.send_response(());
    settle().await;
    assert_eq!(layer.stats().snapshot().in_flight, 0);
    let mut late = task::spawn(calls.remove(0));
    assert_pending!(late.poll());
    responders.remove(0).send(Ok(3));
    assert_eq!(late.await.unwrap(), 3);
    let mut never = task::spawn(calls.remove(0));
    assert_pending!(never.poll());
    drop(responders);
    let error = never.await.unwrap_err();
    assert!(find::<error::Unanswered>(&error).is_some());
}

#[tokio::test(start_paused = true)]
async fn fewer_results_than_items_fail_the_items_left_over() {
    let service = layer(3).layer(batch_fn(|mut requests: Vec<u32>| async move {
        requests.pop();
        Ok::<_, BoxError>(requests.into_iter().map(Ok).collect())
    }));
    let mut calls = call_all(&service, 0..3).await;
    let error = calls.pop().unwrap().await.unwrap_err();
    let missing = find::<error::MissingResult>(&error).unwrap();
    assert_eq!((missing.items(), missing.results()), (3, 2));
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), n as u32);
    }
}

#[tokio::test(start_paused = true)]
async fn more_results_than_items_are_dropped() {
    let service = layer(1).layer(batch_fn(|requests: Vec<u32>| async move {
        let twice = requests.iter().chain(&requests);
        Ok::<_, BoxError>(twice.copied().map(Ok).collect())
    }));
    assert_eq!(call(&service, 1).await.await.unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panicking_cost_function_fails_the_item_it_looked_at() {
    let layer = layer(4).max_cost(100, |batch, next: &u32| {
        assert_ne!(*next, 1);
        batch.cost() + 1
    });
    let service = layer.layer(batch_fn(dislikes_odd));
    let mut calls = call_all(&service, [0, 1, 2]).await;
    assert_eq!(calls.pop().unwrap().await.unwrap(), 2);
    let error = calls.pop().unwrap().await.unwrap_err();
    assert!(find::<error::Panicked>(&error).is_some());
    assert_eq!(calls.pop().unwrap().await.unwrap(), 0);
    assert_eq!(layer.stats().snapshot().queued, 0);
}

#[tokio::test(start_paused = true)]
async fn a_panicking_grouping_function_fails_the_item_it_looked_at() {
    let service = layer(4)
        .group_by(|n| 4 / (n % 4))
        .layer(batch_fn(dislikes_odd));
    let mut calls = call_all(&service, [2, 4, 6]).await;
    assert_eq!(calls.pop().unwrap().await.unwrap(), 6);
    let error = calls.pop().unwrap().await.unwrap_err();
    assert!(find::<error::Panicked>(&error).is_some());
    assert_eq!(calls.pop().unwrap().await.unwrap(), 2);
}
