//! Everything at once, on several threads.

mod support;

use support::tenfold;
use tokio::task::yield_now;
use tower::{BoxError, Layer, ServiceExt};
use tower_batch_llm::{Batch, BatchLayer, PerItem, Window, batch_fn};

/// The `n`-th of a sequence that looks random.
fn dice(n: u32) -> u32 {
    n.wrapping_mul(2_654_435_761).rotate_left(15) % 7
}

async fn storm<S>(inner: S)
where
    S: tower::Service<Batch<u32, u32>, Response = ()> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    let layer = BatchLayer::new(8)
        .window(Window::WhileBusy(support::ms(1)))
        .max_in_flight(3)
        .queue_capacity(64)
        .group_by(|n| n % 5);
    let stats = layer.stats();
    let service = layer.layer(inner);
    let tasks: Vec<_> = (0..10_000)
        .map(|n| {
            let service = service.clone();
            tokio::spawn(async move {
                let answer = service.oneshot(n);
                if dice(n) == 0 {
                    // Leaves, sooner or later.
                    tokio::select! {
                        biased;
                        _ = answer => {}
                        () = async { for _ in 0..dice(n + 1) { yield_now().await; } } => {}
                    }
                } else {
                    assert_eq!(answer.await.ok(), Some(n * 10));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no task panics");
    }
    drop(service);
    while stats.snapshot().in_flight + stats.snapshot().queued > 0 {
        yield_now().await;
    }
    let stats = stats.snapshot();
    assert_eq!(stats.failed, 0);
    assert!(stats.items + stats.cancelled <= 10_000);
    assert!(stats.items >= 8_000, "{stats:?}");
    let items: u64 = (1..).zip(&stats.sizes).map(|(size, n)| size * n).sum();
    assert_eq!(items, stats.items);
    assert_eq!(stats.sizes.len(), 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everybody_who_stays_is_answered_by_a_function_of_batches() {
    let (run, _seen) = tenfold(support::ms(0));
    storm(batch_fn(run)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everybody_who_stays_is_answered_by_single_calls() {
    let inner = tower::service_fn(|n: u32| async move {
        yield_now().await;
        Ok::<_, BoxError>(n * 10)
    });
    storm(PerItem::new(inner)).await;
}
