//! Readiness, clones and permits: what a service with a cache owes to tower.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use common::{Ask, Backend, cache, policy};
use tokio_test::{assert_pending, assert_ready, assert_ready_ok, task};
use tower::limit::ConcurrencyLimitLayer;
use tower::{BoxError, Layer, Service, ServiceBuilder, ServiceExt};
use tower_semcache::{CacheLayer, Cloned, Lookup, ProbeLayer};

type Text = Result<String, BoxError>;

type Policy = fn(&Ask) -> Option<Lookup>;

fn layer() -> CacheLayer<Policy, Cloned, String> {
    CacheLayer::new(cache(), policy, Cloned)
}

async fn ask<S>(service: &mut S, ask: Ask) -> Text
where
    S: Service<Ask, Response = String, Error = BoxError>,
{
    service.ready().await?.call(ask).await
}

const TEXTS: [&str; 3] = ["a", "b", "c"];

#[tokio::test(start_paused = true)]
async fn over_a_limit_of_one_a_thousand_sequential_requests_finish() {
    let backend = Backend::default();
    let cache = cache();
    let mut service = ServiceBuilder::new()
        .layer(ProbeLayer::new(cache.clone(), policy, Cloned))
        .layer(CacheLayer::new(cache, policy, Cloned))
        .layer(ConcurrencyLimitLayer::new(1))
        .service(backend.clone());
    for n in 0..1_000 {
        let mut clone = service.clone();
        ask(&mut service, Ask::exact(TEXTS[n % 3]))
            .await
            .expect("an answer");
        ask(&mut clone, Ask::bypass("x")).await.expect("an answer");
        ask(&mut clone, Ask::exact("y").control(|c| c.lookup = false))
            .await
            .expect("an answer");
    }
    assert_eq!(backend.calls(), 3 + 2_000);
}

#[tokio::test(start_paused = true)]
async fn clones_that_are_ready_hold_nothing_and_block_nobody() {
    let limited = ConcurrencyLimitLayer::new(1).layer(Backend::default());
    for service in [layer().layer(limited.clone())] {
        let mut clones: Vec<_> = (0..10).map(|_| service.clone()).collect();
        for clone in &mut clones {
            clone.ready().await.expect("ready");
            clone.ready().await.expect("still ready");
        }
        for clone in clones.iter_mut().rev() {
            clone.call(Ask::exact("a")).await.expect("an answer");
        }
    }
    let probe = ProbeLayer::new(cache(), policy, Cloned).layer(limited);
    let mut clones: Vec<_> = (0..10).map(|_| probe.clone()).collect();
    for clone in &mut clones {
        clone.ready().await.expect("ready");
    }
    for clone in clones.iter_mut().rev() {
        clone.call(Ask::exact("a")).await.expect("an answer");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hit_is_served_at_once_while_the_backend_is_saturated() {
    let backend = Backend {
        delay: Duration::from_secs(9),
        ..Backend::default()
    };
    let limited = ConcurrencyLimitLayer::new(1).layer(backend);
    let cache = cache();
    cache
        .insert(
            Ask::exact("hot").0.as_ref().expect("a look-up"),
            "stored".into(),
        )
        .expect("room");
    let mut inner = CacheLayer::new(cache.clone(), policy, Cloned).layer(limited.clone());
    let mut probe = ProbeLayer::new(cache, policy, Cloned).layer(limited);

    let mut slow = task::spawn(inner.call(Ask::exact("slow")));
    assert_pending!(slow.poll());
    let mut waits = task::spawn(probe.call(Ask::exact("waits")));
    assert_pending!(waits.poll());

    assert_ready_ok!(task::spawn(inner.ready()).poll());
    let hit = assert_ready_ok!(task::spawn(inner.call(Ask::exact("hot"))).poll());
    assert_eq!(hit, "stored");
    assert_ready_ok!(task::spawn(probe.ready()).poll());
    let hit = assert_ready_ok!(task::spawn(probe.call(Ask::exact("hot"))).poll());
    assert_eq!(hit, "stored");

    drop(slow);
    assert!(waits.is_woken(), "whoever leaves gives its permit back");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_backend_takes_one_poll_and_one_wake() {
    let backend = Backend {
        delay: Duration::from_secs(1),
        ..Backend::default()
    };
    let mut service = layer().layer(backend);
    let mut call = task::spawn(service.call(Ask::exact("a")));
    assert_pending!(call.poll());
    assert!(!call.is_woken());
    tokio::time::advance(Duration::from_millis(1_001)).await;
    assert!(call.is_woken());
    assert_ready!(call.poll()).expect("an answer");
}

#[tokio::test]
async fn a_service_is_called_only_after_it_was_polled_ready() {
    let mut service = layer().layer(Strict::default());
    for n in 0..10 {
        let mut clone = service.clone();
        ask(&mut service, Ask::exact(TEXTS[n % 3]))
            .await
            .expect("an answer");
        ask(&mut clone, Ask::bypass("x")).await.expect("an answer");
    }
    let mut probe = ProbeLayer::new(cache(), policy, Cloned).layer(service.into_inner());
    for text in TEXTS {
        ask(&mut probe, Ask::exact(text)).await.expect("an answer");
    }
}

#[tokio::test]
async fn errors_of_readiness_and_of_the_call_reach_the_caller_and_are_not_stored() {
    let cache = cache();
    let failing = tower::service_fn(|_: Ask| async { Err::<String, _>("broken") });
    let mut service = CacheLayer::new(cache.clone(), policy, Cloned).layer(failing);
    for _ in 0..2 {
        let error = ask(&mut service, Ask::exact("a"))
            .await
            .expect_err("broken");
        assert_eq!(error.to_string(), "broken");
    }
    let stats = cache.stats();
    assert_eq!(
        (stats.stored, stats.refused_unfinished, stats.entries),
        (0, 2, 0)
    );
}

/// Panics when it is called without having been polled ready, and forgets readiness when cloned.
#[derive(Debug, Default)]
struct Strict {
    ready: Arc<AtomicBool>,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Service<Ask> for Strict {
    type Response = String;
    type Error = BoxError;
    type Future = std::future::Ready<Text>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.ready.store(true, Ordering::SeqCst);
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, Ask(_, text): Ask) -> Self::Future {
        assert!(
            self.ready.swap(false, Ordering::SeqCst),
            "called without being ready"
        );
        std::future::ready(Ok(text.to_owned()))
    }
}
