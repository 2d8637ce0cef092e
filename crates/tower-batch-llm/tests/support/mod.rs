//! What the tests share: calls that are queued but not waited for, inner services that tell what
//! they were given, and a look at the chain of an error.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "shared by all test binaries, each of which uses a part"
)]

use std::{error::Error, future::Future, pin::Pin, time::Duration};

use tokio::{sync::mpsc, time::Instant};
use tower::{BoxError, Service, ServiceExt};
use tower_batch_llm::{Batch, Batcher, future::ResponseFuture};
use tower_test::mock;

pub type Mock = mock::Mock<Batch<u32, u32>, ()>;
pub type Handle = mock::Handle<Batch<u32, u32>, ()>;
pub type Call = ResponseFuture<u32>;
/// When a batch began, counted from the making of the service, and what was in it.
pub type Seen = mpsc::UnboundedReceiver<(Duration, Vec<u32>)>;
/// What a function for `batch_fn` gives back.
pub type Results =
    Pin<Box<dyn Future<Output = Result<Vec<Result<u32, BoxError>>, BoxError>> + Send>>;

/// Queues one item.
pub async fn call(service: &Batcher<u32, u32>, request: u32) -> Call {
    let mut service = service.clone();
    service.ready().await.unwrap().call(request)
}

/// Queues several items at the same moment.
pub async fn call_all(
    service: &Batcher<u32, u32>,
    requests: impl IntoIterator<Item = u32>,
) -> Vec<Call> {
    let mut calls = Vec::new();
    for request in requests {
        calls.push(call(service, request).await);
    }
    calls
}

/// A function for `batch_fn` that takes `time` a batch and answers ten times the request.
pub fn tenfold(time: Duration) -> (impl Fn(Vec<u32>) -> Results + Clone + Send + 'static, Seen) {
    let (tell, seen) = mpsc::unbounded_channel();
    let start = Instant::now();
    let run = move |requests: Vec<u32>| {
        tell.send((start.elapsed(), requests.clone())).unwrap();
        Box::pin(async move {
            tokio::time::sleep(time).await;
            Ok(requests.into_iter().map(|n| Ok(n * 10)).collect())
        }) as Results
    };
    (run, seen)
}

/// Everything seen so far.
pub fn drain(seen: &mut Seen) -> Vec<(Duration, Vec<u32>)> {
    std::iter::from_fn(|| seen.try_recv().ok()).collect()
}

/// Lets every task run until it waits, without letting time pass.
pub async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The requests of a batch.
pub fn requests(batch: &Batch<u32, u32>) -> Vec<u32> {
    batch.iter().map(|item| item.request).collect()
}

/// The error of type `E` in the chain that starts at `error`.
pub fn find<E: Error + 'static>(error: &BoxError) -> Option<&E> {
    let mut next: Option<&(dyn Error + 'static)> = Some(&**error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
