//! Single flight on a plain service: ten callers ask for the same thing at once, and it is done once.
//!
//! Nothing here knows of HTTP. Any `Service` will do whose responses can be cloned.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tower::{BoxError, Layer, ServiceExt, service_fn};
use tower_coalesce::CoalesceLayer;

// The clock is paused: a second is over as soon as there is nothing left to do in it.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), BoxError> {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = calls.clone();
    let square = service_fn(move |n: u32| {
        counter.fetch_add(1, Ordering::Relaxed);
        async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<_, Infallible>(n * n)
        }
    });

    // The policy says which requests are the same: here those with the same number. `None` would mean "never share this one".
    let layer = CoalesceLayer::new(|n: &u32| Some(*n));
    let service = layer.layer(square);

    // Every caller has a clone of its own; what they share is the map of the calls in flight.
    let mut callers = JoinSet::new();
    for _ in 0..10 {
        callers.spawn(service.clone().oneshot(12));
    }
    for answer in callers.join_all().await {
        assert_eq!(answer?, 144);
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let stats = layer.stats().snapshot();
    assert_eq!((stats.leaders, stats.followers), (1, 9));
    println!("10 callers, {} call", calls.load(Ordering::Relaxed));

    // Nothing is remembered: this is no cache, so nobody ever gets an old answer.
    assert_eq!(service.oneshot(12).await?, 144);
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    Ok(())
}

#[test]
fn ten_callers_make_one_call() -> Result<(), BoxError> {
    main()
}
