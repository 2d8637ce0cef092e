//! The semantic tier: what it serves, what it refuses, and how it fails.

mod common;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{Ask, Backend, Prefix, cache, lookup, policy, prefix, similar};
use tokio::time::Instant;
use tower::limit::ConcurrencyLimitLayer;
use tower::{BoxError, Layer, Service, ServiceExt, service_fn};
use tower_semcache::{
    AcceptAll, Cache, CacheLayer, Cloned, Lookup, Record, Vector, Verdict, guard::Guard,
};

type Policy = fn(&Ask) -> Option<Lookup>;

fn layer(cache: &Cache<String>) -> CacheLayer<Policy, Cloned, String> {
    CacheLayer::new(cache.clone(), policy, Cloned)
}

/// Asks a fresh stack over the same cache and backend.
async fn ask<E, G>(
    layer: &CacheLayer<Policy, Cloned, String, E, G>,
    backend: &Backend,
    ask: Ask,
) -> String
where
    E: Service<Arc<str>, Response = Vector> + Clone,
    G: Guard,
    Cloned: Record<Ask, String, Value = String>,
{
    layer
        .layer(backend.clone())
        .oneshot(ask)
        .await
        .expect("an answer")
}

#[tokio::test(start_paused = true)]
async fn a_similar_text_is_answered_from_the_cache_and_a_different_one_is_not() {
    let (cache, backend) = (cache(), Backend::default());
    let layer = layer(&cache).semantic(Prefix::default(), AcceptAll);
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apple", 0.9)).await,
        "apple #0"
    );
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apply", 0.9)).await,
        "apple #0"
    );
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apple", 0.9)).await,
        "apple #0"
    );
    assert_eq!(
        ask(&layer, &backend, Ask::similar("banana", 0.9)).await,
        "banana #1"
    );
    assert_eq!(ask(&layer, &backend, Ask::exact("apply")).await, "apply #2");
    let stats = cache.stats();
    assert_eq!(
        (stats.hits_semantic, stats.hits_exact, stats.misses),
        (1, 1, 3)
    );
}

#[tokio::test(start_paused = true)]
async fn the_most_similar_text_that_the_guard_accepts_is_served() {
    let (cache, backend) = (cache(), Backend::default());
    let guard = |asked: &str, cached: &str| Verdict::accept_if(asked.len() == cached.len());
    let layer = layer(&cache).semantic(Prefix::default(), guard);
    for text in ["apply", "apricot", "avocado"] {
        ask(&layer, &backend, Ask::similar(text, 1.0)).await;
    }
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apricos", 0.9)).await,
        "apricot #1"
    );
    assert!(cache.stats().guard_rejected > 0);
    assert_eq!(ask(&layer, &backend, Ask::similar("a", 0.5)).await, "a #3");
}

#[tokio::test(start_paused = true)]
async fn scopes_never_share_whatever_the_similarity() {
    let (cache, backend) = (cache(), Backend::default());
    let layer = layer(&cache).semantic(Prefix::default(), AcceptAll);
    let one = |text| Ask(Some(similar("one", text, 0.1)), text);
    let two = |text| Ask(Some(similar("two", text, 0.1)), text);
    ask(&layer, &backend, one("apple")).await;
    assert_eq!(ask(&layer, &backend, two("apple")).await, "apple #1");
    assert_eq!(ask(&layer, &backend, two("apply")).await, "apple #1");
}

#[tokio::test(start_paused = true)]
async fn a_semantic_hit_gives_nothing_a_new_life() {
    let backend = Backend::default();
    let cache = Cache::builder()
        .ttl(Duration::from_secs(10))
        .build()
        .expect("valid");
    let layer = layer(&cache).semantic(Prefix::default(), AcceptAll);
    ask(&layer, &backend, Ask::similar("apple", 0.9)).await;
    tokio::time::advance(Duration::from_secs(9)).await;
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apply", 0.9)).await,
        "apple #0"
    );
    assert_eq!(cache.len(), 1, "nothing is stored under the asked request");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apply", 0.9)).await,
        "apply #1"
    );
}

#[tokio::test(start_paused = true)]
async fn one_embedding_a_request_and_none_where_it_is_of_no_use() {
    let (cache, backend) = (cache(), Backend::default());
    let embedder = Prefix::default();
    let layer = layer(&cache).semantic(embedder.clone(), AcceptAll);
    let calls = || embedder.calls.load(Ordering::SeqCst);
    ask(&layer, &backend, Ask::similar("apple", 0.9)).await;
    assert_eq!(calls(), 1, "a miss that is stored with its vector");
    ask(&layer, &backend, Ask::similar("apple", 0.9)).await;
    assert_eq!(calls(), 1, "an exact hit");
    ask(&layer, &backend, Ask::similar("apply", 0.9)).await;
    assert_eq!(calls(), 2, "a semantic hit");
    ask(&layer, &backend, Ask::exact("avocado")).await;
    ask(&layer, &backend, Ask::bypass("avocado")).await;
    let useless = Ask::similar("x", 0.9).control(|c| {
        c.lookup = false;
        c.store = false;
    });
    ask(&layer, &backend, useless).await;
    assert_eq!(
        calls(),
        2,
        "exact matching, a bypass, neither look-up nor store"
    );
    ask(
        &layer,
        &backend,
        Ask::similar("bread", 0.9).control(|c| c.lookup = false),
    )
    .await;
    assert_eq!(calls(), 3, "a fresh answer is found by a later look-up");
    assert_eq!(
        ask(&layer, &backend, Ask::similar("break", 0.9)).await,
        "bread #4"
    );
    assert_eq!(cache.stats().embeddings, 4);
}

#[tokio::test(start_paused = true)]
async fn an_embedder_that_fails_is_a_miss_and_the_answer_is_still_stored() {
    let (cache, backend) = (cache(), Backend::default());
    let broken = service_fn(|_: Arc<str>| async { Err::<Vector, _>("no model") });
    let layer = layer(&cache).semantic(broken, AcceptAll);
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apple", 0.9)).await,
        "apple #0"
    );
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apple", 0.9)).await,
        "apple #0"
    );
    let stats = cache.stats();
    assert_eq!(
        (stats.embeddings_failed, stats.entries, stats.vectors),
        (1, 1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn an_embedder_that_hangs_costs_its_deadline_and_no_more() {
    let (cache, backend) = (cache(), Backend::default());
    let hung = service_fn(|_: Arc<str>| pending::<Result<Vector, BoxError>>());
    let limit = Duration::from_millis(30);
    let layer = layer(&cache)
        .semantic(hung, AcceptAll)
        .embed_deadline(limit);
    let start = Instant::now();
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apple", 0.9)).await,
        "apple #0"
    );
    assert!(
        (limit..limit * 2).contains(&start.elapsed()),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(cache.stats().embeddings_late, 1);
}

#[tokio::test(start_paused = true)]
async fn an_embedder_that_is_never_ready_is_late_too() {
    let (cache, backend) = (cache(), Backend::default());
    let busy = ConcurrencyLimitLayer::new(0).layer(Prefix::default());
    let layer = layer(&cache).semantic(busy, AcceptAll);
    let start = Instant::now();
    assert_eq!(
        ask(&layer, &backend, Ask::similar("apple", 0.9)).await,
        "apple #0"
    );
    assert!(
        start.elapsed() < Duration::from_millis(110),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(cache.stats().embeddings_late, 1);
}

#[tokio::test(start_paused = true)]
async fn a_vector_that_is_not_finite_or_has_no_direction_never_matches() {
    for bad in [
        vec![f32::NAN, 1.0],
        vec![f32::INFINITY],
        vec![0.0, 0.0],
        vec![],
    ] {
        let (cache, backend) = (cache(), Backend::default());
        let embedder = service_fn(move |_: Arc<str>| {
            let bad = bad.clone();
            async move { Ok::<_, BoxError>(Vector::from(bad)) }
        });
        let layer = layer(&cache).semantic(embedder, AcceptAll);
        ask(&layer, &backend, Ask::similar("apple", 1e-6)).await;
        assert_eq!(
            ask(&layer, &backend, Ask::similar("apply", 1e-6)).await,
            "apply #1"
        );
        let stats = cache.stats();
        assert_eq!(
            (stats.embeddings_invalid, stats.entries, stats.vectors),
            (2, 2, 0)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_embedder_that_changes_its_length_never_matches_across() {
    let (cache, backend) = (cache(), Backend::default());
    let calls = AtomicUsize::new(1);
    let calls = Arc::new(calls);
    let embedder = service_fn(move |_: Arc<str>| {
        let length = calls.fetch_add(1, Ordering::SeqCst);
        async move { Ok::<_, BoxError>(Vector::from(vec![1.0; length])) }
    });
    let layer = layer(&cache).semantic(embedder, AcceptAll);
    for (n, text) in ["apple", "apply", "avocado"].into_iter().enumerate() {
        assert_eq!(
            ask(&layer, &backend, Ask::similar(text, 0.1)).await,
            format!("{text} #{n}")
        );
    }
    assert_eq!(cache.stats().vectors, 1);
}

#[tokio::test(start_paused = true)]
async fn an_equal_request_answered_during_the_embedding_is_an_exact_hit() {
    let (cache, backend) = (cache(), Backend::default());
    let slow = service_fn(|text: Arc<str>| async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok::<_, BoxError>(Vector::from(prefix(&text)))
    });
    let layer = layer(&cache).semantic(slow, AcceptAll);
    let service = layer.layer(backend.clone());
    let waiting = tokio::spawn(service.oneshot(Ask::similar("apple", 0.9)));
    tokio::time::sleep(Duration::from_millis(5)).await;
    cache
        .insert(&lookup("t", "apple"), "meanwhile".into())
        .expect("room");
    assert_eq!(
        waiting.await.expect("no panic").expect("an answer"),
        "meanwhile"
    );
    assert_eq!((backend.calls(), cache.stats().hits_exact), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_full_cache_keeps_its_recall() {
    let cache = Cache::builder().max_bytes(40_000).build().expect("valid");
    let backend = Backend::default();
    let layer = layer(&cache).semantic(Prefix::default(), AcceptAll);
    const NAMES: [&str; 4] = ["apple", "bread", "cream", "dates"];
    for n in 0..500 {
        let filler: &'static str = Box::leak(format!("z{n}").into_boxed_str());
        let filler = Ask(Some(similar("other", filler, 1.0)), filler);
        ask(&layer, &backend, filler.control(|c| c.lookup = false)).await;
    }
    assert!(cache.stats().evicted > 300, "{:?}", cache.stats());
    for name in NAMES {
        ask(&layer, &backend, Ask::similar(name, 1.0)).await;
    }
    for (asked, expected) in [("appla", "apple"), ("breaz", "bread"), ("crean", "cream")] {
        assert!(
            ask(&layer, &backend, Ask::similar(asked, 0.9))
                .await
                .starts_with(expected)
        );
    }
    let stats = cache.stats();
    assert_eq!(stats.vectors, stats.entries);
    assert!(stats.bytes <= 40_000);
}

#[tokio::test(start_paused = true)]
async fn only_if_cached_is_never_a_call() {
    let (cache, backend) = (cache(), Backend::default());
    let layer = layer(&cache).semantic(Prefix::default(), AcceptAll);
    let service = layer.layer(backend.clone());
    let only = |text| Ask::similar(text, 0.9).control(|c| c.only_if_cached = true);
    let error = service
        .clone()
        .oneshot(only("apple"))
        .await
        .expect_err("nothing is stored");
    assert!(error.is::<tower_semcache::error::NotCached>());
    ask(&layer, &backend, Ask::similar("apple", 0.9)).await;
    assert_eq!(
        service.oneshot(only("apply")).await.expect("similar"),
        "apple #0"
    );
    assert_eq!(backend.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_panics_takes_its_own_request_only() {
    let (cache, backend) = (cache(), Backend::default());
    let guard = |_: &str, cached: &str| -> Verdict { panic!("cannot read {cached}") };
    let layer = layer(&cache).semantic(Prefix::default(), guard);
    ask(&layer, &backend, Ask::similar("apple", 0.9)).await;
    let service = layer.layer(backend.clone());
    let panicked = tokio::spawn(service.clone().oneshot(Ask::similar("apply", 0.9))).await;
    assert!(panicked.expect_err("a panic").is_panic());
    assert_eq!(
        service
            .oneshot(Ask::similar("apple", 0.9))
            .await
            .expect("a hit"),
        "apple #0"
    );
    cache.purge();
    assert!(cache.is_empty());
}

#[tokio::test(start_paused = true)]
async fn whoever_leaves_takes_the_embedding_and_the_call_along() {
    let cache = cache();
    let backend = Backend {
        delay: Duration::from_secs(1),
        ..Backend::default()
    };
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let slow = service_fn(move |text: Arc<str>| {
        let held = Arc::clone(&held);
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(held);
            Ok::<_, BoxError>(Vector::from(prefix(&text)))
        }
    });
    let service = layer(&cache)
        .semantic(slow, AcceptAll)
        .layer(backend.clone());
    let leave_after = |millis| {
        let call = service.clone().oneshot(Ask::similar("apple", 0.9));
        tokio::time::timeout(Duration::from_millis(millis), call)
    };
    leave_after(10)
        .await
        .expect_err("left during the embedding");
    assert_eq!((Arc::strong_count(&alive), backend.calls()), (2, 0));
    leave_after(100).await.expect_err("left during the call");
    assert_eq!((Arc::strong_count(&alive), backend.calls()), (2, 1));
    let stats = cache.stats();
    assert_eq!((stats.stored, stats.refused_unfinished), (0, 1));
}
