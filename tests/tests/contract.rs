//! The contract of readiness, clones, permits and cancellation, over all three layers.

use bytes::Bytes;
use std::time::Duration;
use tests::contract::Inner;
use tokio_test::{assert_pending, assert_ready_ok, task};
use tower::{BoxError, Layer, Service, ServiceBuilder};
use tower_batch_llm::{BatchLayer, PerItem, Window};
use tower_coalesce::CoalesceLayer;
use tower_semcache::{Cache, CacheLayer, Cloned, Lookup, ProbeLayer, Secret};

tests::contract!(coalesce, |inner: Inner| CoalesceLayer::new(|n: &u32| Some(
    *n
))
.layer(inner));

tests::contract!(coalesce_of_requests_that_do_not_share, |inner: Inner| {
    CoalesceLayer::new(|_: &u32| None::<u32>).layer(inner)
});

tests::contract!(cache, |inner: Inner| {
    CacheLayer::new(new_cache(), lookup, Cloned).layer(inner)
});

tests::contract!(cache_of_requests_that_pass, |inner: Inner| {
    CacheLayer::new(new_cache(), |_: &u32| None, Cloned).layer(inner)
});

tests::contract!(probe, |inner: Inner| {
    ProbeLayer::new(new_cache(), lookup, Cloned).layer(inner)
});

tests::contract!(batch_while_busy, |inner: Inner| BatchLayer::new(1)
    .layer(PerItem::new(inner)));

tests::contract!(batch_with_a_fixed_window, |inner: Inner| {
    BatchLayer::new(4)
        .window(Window::Fixed(Duration::from_millis(6)))
        .queue_capacity(2)
        .layer(PerItem::new(inner))
});

tests::contract!(the_whole_stack, |inner: Inner| {
    let cache = new_cache();
    ServiceBuilder::new()
        .layer(ProbeLayer::new(cache.clone(), lookup, Cloned))
        .layer(CoalesceLayer::new(|n: &u32| Some(*n)))
        .layer(CacheLayer::new(cache, lookup, Cloned))
        .layer(BatchLayer::new(8))
        .service(PerItem::new(inner))
});

fn new_cache() -> Cache<u32> {
    Cache::builder().build().expect("defaults that work")
}

#[expect(
    clippy::unnecessary_wraps,
    clippy::trivially_copy_pass_by_ref,
    reason = "a policy"
)]
fn lookup(n: &u32) -> Option<Lookup> {
    const SECRET: Secret = Secret::from_bytes([7; 32]);
    let request = Bytes::copy_from_slice(&n.to_le_bytes());
    Some(Lookup::new(&SECRET, SECRET.scope(&[]), request))
}

/// One poll of one call is enough for the answer, though the inner service has no place.
fn is_served_at_once<S>(service: &mut S, request: u32)
where
    S: Service<u32, Response = u32, Error = BoxError>,
{
    assert_ready_ok!(task::spawn(std::future::poll_fn(|cx| service.poll_ready(cx))).poll());
    let answer = assert_ready_ok!(task::spawn(service.call(request)).poll());
    assert_eq!(answer, 10 * request);
}

#[tokio::test(start_paused = true)]
async fn a_hit_is_served_in_one_poll_while_the_backend_is_saturated() {
    let cache = new_cache();
    for n in 0..3 {
        cache
            .insert(&lookup(&n).expect("a look-up"), 10 * n)
            .expect("room");
    }
    let inner = Inner::new(1, Duration::from_secs(3600));
    let mut service = CacheLayer::new(cache.clone(), lookup, Cloned).layer(inner.look());
    let mut probe = ProbeLayer::new(cache.clone(), lookup, Cloned).layer(inner.look());
    let mut stack = ServiceBuilder::new()
        .layer(ProbeLayer::new(cache.clone(), lookup, Cloned))
        .layer(CoalesceLayer::new(|n: &u32| Some(*n)))
        .layer(CacheLayer::new(cache, lookup, Cloned))
        .layer(BatchLayer::new(8).queue_capacity(1))
        .service(PerItem::new(inner.look()));

    let mut slow = task::spawn(service.call(100));
    assert_pending!(slow.poll());
    let mut waiter = task::spawn(probe.call(101));
    assert_pending!(waiter.poll());
    let mut queued = task::spawn(stack.call(102));
    assert_pending!(queued.poll());
    assert_eq!((inner.free(), inner.alive()), (0, 1));

    for n in 0..3 {
        is_served_at_once(&mut service, n);
        is_served_at_once(&mut probe, n);
        is_served_at_once(&mut stack, n);
    }
    assert_eq!(inner.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_follower_joins_while_the_backend_is_saturated() {
    let inner = Inner::new(1, Duration::from_secs(1));
    let service = CoalesceLayer::new(|n: &u32| Some(*n)).layer(inner.look());
    let callers: Vec<_> = (0..100)
        .map(|_| tokio::spawn(tower::ServiceExt::oneshot(service.clone(), 7)))
        .collect();
    for caller in callers {
        assert_eq!(caller.await.expect("no panic").expect("an answer"), 70);
    }
    assert_eq!((inner.calls(), inner.free()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_of_n_admits_exactly_n() {
    let inner = Inner::new(0, Duration::ZERO);
    let service = BatchLayer::<u32, u32>::new(1)
        .max_in_flight(1)
        .queue_capacity(5)
        .layer(tower::util::MapErr::new(
            PerItem::new(inner),
            BoxError::from,
        ));
    let mut handles: Vec<_> = (0..6).map(|_| service.clone()).collect();
    let mut admitted = 0;
    for handle in &mut handles {
        let ready = task::spawn(std::future::poll_fn(|cx| handle.poll_ready(cx))).poll();
        admitted += usize::from(ready.is_ready());
    }
    assert_eq!(admitted, 5);
}
