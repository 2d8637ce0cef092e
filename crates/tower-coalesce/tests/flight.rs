//! Single flight with `Cloned`: who calls, who waits, who leaves, what they get.
#![cfg(not(tower_coalesce_loom))]
#![expect(clippy::panic, reason = "panics are what is tested")]

mod support;

use std::convert::Infallible;
use std::future::{Future, pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use tokio_test::{assert_pending, assert_ready, task};
use tower::limit::ConcurrencyLimitLayer;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};
use tower_coalesce::error::{LeaderAborted, LeaderPanicked, Overloaded, TooOld};
use tower_coalesce::{CoalesceLayer, FlightError, Lease, OnAbandon, Role, Share};
use tower_layer::Layer;

use self::support::{Alive, Calls, Counted, find, numbered, settle};

const SECOND: Duration = Duration::from_secs(1);

#[expect(clippy::ptr_arg, reason = "the type of the requests")]
fn same(request: &String) -> Option<String> {
    Some(request.clone())
}

fn text(text: &str) -> String {
    text.to_owned()
}

/// A service that answers `request` after `delay`.
fn slow(
    calls: &Calls,
    delay: Duration,
) -> impl Service<String, Response = String, Error = Infallible, Future: Send> + Clone + Send + 'static
{
    let calls = calls.clone();
    service_fn(move |request: String| {
        let alive = calls.enter();
        async move {
            sleep(delay).await;
            drop(alive);
            Ok(format!("{request}!"))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn fifty_identical_requests_make_one_call_and_all_are_answered_when_it_is() {
    for millis in [50, 200, 400, 700, 900] {
        let calls = Calls::default();
        let layer = CoalesceLayer::new(same);
        let service = layer.layer(slow(&calls, Duration::from_millis(millis)));
        let began = Instant::now();
        let tasks: Vec<_> = (0..50)
            .map(|_| tokio::spawn(service.clone().oneshot(text("a"))))
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap().unwrap(), "a!");
            assert!(began.elapsed() <= Duration::from_millis(millis + 1));
        }
        assert_eq!(calls.made(), 1);
        let stats = layer.stats().snapshot();
        assert_eq!(
            (stats.leaders, stats.followers, stats.flights_open),
            (1, 49, 0)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_identical_requests_make_one_call() {
    let calls = Calls::default();
    let service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    let tasks: Vec<_> = (0..10_000)
        .map(|_| tokio::spawn(service.clone().oneshot(text("a"))))
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap(), "a!");
    }
    assert_eq!(calls.made(), 1);
}

#[tokio::test(start_paused = true)]
async fn different_requests_do_not_share() {
    let calls = Calls::default();
    let service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    let (a, b) = tokio::join!(
        service.clone().oneshot(text("a")),
        service.clone().oneshot(text("b"))
    );
    assert_eq!((a.unwrap(), b.unwrap()), (text("a!"), text("b!")));
    assert_eq!(calls.made(), 2);
}

#[tokio::test(start_paused = true)]
async fn requests_one_after_the_other_do_not_share() {
    let calls = Calls::default();
    let mut service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    for _ in 0..3 {
        service
            .ready()
            .await
            .unwrap()
            .call(text("a"))
            .await
            .unwrap();
    }
    assert_eq!(calls.made(), 3);
}

#[tokio::test(start_paused = true)]
async fn two_services_of_one_layer_do_not_share_but_clones_of_one_do() {
    let calls = Calls::default();
    let layer = CoalesceLayer::new(same);
    let (one, two) = (
        layer.layer(slow(&calls, SECOND)),
        layer.layer(slow(&calls, SECOND)),
    );
    let (a, b, c) = tokio::join!(
        one.clone().oneshot(text("a")),
        one.oneshot(text("a")),
        two.oneshot(text("a"))
    );
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    assert_eq!(calls.made(), 2);
}

#[tokio::test(start_paused = true)]
async fn leader_that_leaves_hands_over_to_a_parked_waiter_without_a_second_call() {
    let calls = Calls::default();
    let mut service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    let mut leader = task::spawn(service.call(text("a")));
    let mut follower = task::spawn(service.call(text("a")));
    assert_pending!(leader.poll());
    assert_pending!(follower.poll());
    settle().await;
    drop(leader);
    settle().await;
    assert_eq!(calls.alive(), 1);
    assert_eq!(follower.await.unwrap(), "a!");
    assert_eq!(calls.made(), 1);
}

#[tokio::test(start_paused = true)]
async fn leader_that_is_never_polled_makes_its_call_all_the_same() {
    let calls = Calls::default();
    let mut service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    let _leader = service.call(text("a"));
    assert_eq!(service.call(text("a")).await.unwrap(), "a!");
    assert_eq!(calls.made(), 1);
}

#[tokio::test(start_paused = true)]
async fn last_one_to_leave_drops_the_call_at_once() {
    let calls = Calls::default();
    let layer = CoalesceLayer::new(same);
    let mut service = layer.layer(slow(&calls, SECOND));
    let leader = service.call(text("a"));
    let follower = service.call(text("a"));
    settle().await;
    assert_eq!(calls.alive(), 1);
    let began = Instant::now();
    drop(leader);
    drop(follower);
    settle().await;
    assert_eq!(calls.alive(), 0);
    assert_eq!(began.elapsed(), Duration::ZERO);
    let stats = layer.stats().snapshot();
    assert_eq!((stats.abandoned, stats.flights_open), (1, 0));
    // The key is free.
    assert_eq!(service.call(text("a")).await.unwrap(), "a!");
    assert_eq!(calls.made(), 2);
}

#[tokio::test(start_paused = true)]
async fn last_one_to_leave_before_the_inner_service_is_ready_leaves_nothing() {
    let (inner, mut handle) = tower_test::mock::pair::<String, String>();
    handle.allow(0);
    let layer = CoalesceLayer::new(same);
    let mut service = layer.layer(inner);
    let leader = service.call(text("a"));
    settle().await;
    assert_eq!(layer.stats().snapshot().flights_open, 1);
    drop(leader);
    settle().await;
    assert_eq!(layer.stats().snapshot().flights_open, 0);
    // The leader's clone of the inner service is gone, so the mock sees the end when this last one is dropped.
    drop(service);
    assert!(handle.next_request().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_request_after_an_abandoned_flight_never_joins_it() {
    let calls = Calls::default();
    let mut service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    drop(service.call(text("a")));
    // The leader's task has not run since.
    let next = service.call(text("a"));
    assert_eq!(next.await.unwrap(), "a!");
    assert_eq!(calls.made(), 1, "the abandoned leader had not even begun");
}

#[tokio::test(start_paused = true)]
async fn finish_lets_an_abandoned_call_end_and_others_join_it() {
    let calls = Calls::default();
    let layer = CoalesceLayer::new(same).on_abandon(OnAbandon::Finish);
    let mut service = layer.layer(slow(&calls, SECOND));
    drop(service.call(text("a")));
    settle().await;
    assert_eq!(calls.alive(), 1);
    sleep(SECOND / 2).await;
    let began = Instant::now();
    assert_eq!(service.call(text("a")).await.unwrap(), "a!");
    assert!(began.elapsed() <= SECOND / 2 + Duration::from_millis(1));
    drop(service.call(text("b")));
    sleep(SECOND * 2).await;
    assert_eq!(calls.made(), 2);
    let stats = layer.stats().snapshot();
    assert_eq!((stats.flights_open, stats.abandoned), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_requests_one_by_one_pass_an_inner_limit_of_one() {
    let calls = Calls::default();
    let service = ServiceBuilder::new()
        .layer(CoalesceLayer::new(same))
        .layer(ConcurrencyLimitLayer::new(1))
        .service(slow(&calls, Duration::from_millis(1)));
    timeout(SECOND * 10, async {
        for n in 0..1_000 {
            let request = if n % 2 == 0 { text("a") } else { n.to_string() };
            service.clone().oneshot(request).await.unwrap();
        }
    })
    .await
    .expect("does not hang");
    assert_eq!(calls.made(), 1_000);
}

#[tokio::test(start_paused = true)]
async fn an_inner_permit_is_free_before_anybody_is_woken() {
    let calls = Calls::default();
    let mut service = ServiceBuilder::new()
        .layer(CoalesceLayer::new(same))
        .layer(ConcurrencyLimitLayer::new(1))
        .service(slow(&calls, Duration::ZERO));
    let mut leader = task::spawn(service.call(text("a")));
    assert_pending!(leader.poll());
    while !leader.is_woken() {
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    // It has been woken but not polled: the next call does not wait for it.
    timeout(Duration::from_millis(5), service.call(text("b")))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn poll_ready_twice_is_ready_and_takes_nothing() {
    let (inner, mut handle) = tower_test::mock::pair::<String, String>();
    handle.allow(0);
    let mut service = task::spawn(CoalesceLayer::new(same).layer(inner));
    for _ in 0..2 {
        let ready = service.enter(|cx, mut service| service.poll_ready(cx));
        assert!(matches!(ready, Poll::Ready(Ok(()))));
    }
    // And a clone that was not polled ready may be called.
    handle.allow(1);
    let call = task::spawn((*service).clone().call(text("a")));
    settle().await;
    let (request, respond) = handle.next_request().await.unwrap();
    assert_eq!(request, "a");
    respond.send_response(text("b"));
    assert_eq!(call.await.unwrap(), "b");
}

#[tokio::test(start_paused = true)]
async fn fifteen_waiters_of_a_second_are_polled_twice_each_at_most() {
    let calls = Calls::default();
    let service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    let polls: Vec<_> = (0..15).map(|_| Arc::new(AtomicUsize::new(0))).collect();
    let tasks: Vec<_> = polls
        .iter()
        .map(|polls| {
            let mut service = service.clone();
            tokio::spawn(Counted::new(service.call(text("a")), polls))
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    for polls in polls {
        assert!(polls.load(Ordering::SeqCst) <= 2);
    }
}

#[tokio::test(start_paused = true)]
async fn waiters_are_woken_in_the_order_in_which_they_came() {
    let release = Arc::new(Notify::new());
    let released = Arc::clone(&release);
    let mut service = CoalesceLayer::new(same).layer(service_fn(move |request: String| {
        let release = Arc::clone(&released);
        async move {
            release.notified().await;
            Ok::<_, Infallible>(request)
        }
    }));
    let woken = Arc::default();
    let mut waiters = Vec::new();
    for n in 0..32 {
        let mut waiter = Box::pin(service.call(text("a")));
        let waker = numbered(n, &woken);
        assert!(
            waiter
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        waiters.push(waiter);
    }
    // Two of them leave; one moves to another task and keeps its place.
    drop(waiters.remove(20));
    drop(waiters.remove(0));
    let waker = numbered(1_010, &woken);
    assert!(
        waiters[9]
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    settle().await;
    release.notify_one();
    settle().await;
    let expected: Vec<_> = (1..32)
        .filter(|n| *n != 20)
        .map(|n| if n == 10 { 1_010 } else { n })
        .collect();
    assert_eq!(*woken.lock(), expected);
}

#[tokio::test(start_paused = true)]
async fn key_is_free_before_anybody_is_woken() {
    let calls = Calls::default();
    let mut service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    let mut leader = task::spawn(service.call(text("a")));
    assert_pending!(leader.poll());
    while !leader.is_woken() {
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    // Woken but not polled yet: whoever comes now starts a new call.
    let next = service.call(text("a"));
    settle().await;
    assert_eq!(calls.made(), 2);
    assert_eq!(assert_ready!(leader.poll()).unwrap(), "a!");
    assert_eq!(next.await.unwrap(), "a!");
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Broken(u32);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "broken {}", self.0)
    }
}

impl std::error::Error for Broken {}

#[tokio::test(start_paused = true)]
async fn an_error_is_the_same_value_for_all_and_leads_to_the_original() {
    let calls = Calls::default();
    let counted = calls.clone();
    // Both for a concrete error and for one that is boxed already.
    let concrete = service_fn(move |_: String| {
        let alive = counted.enter();
        async move {
            sleep(SECOND).await;
            drop(alive);
            Err::<String, _>(Broken(7))
        }
    });
    let boxed = concrete.clone().map_err(BoxError::from);
    let layer = CoalesceLayer::new(same);
    let (mut concrete, mut boxed) = (layer.layer(concrete), layer.layer(boxed));
    for (a, b) in [
        tokio::join!(concrete.call(text("a")), concrete.clone().call(text("a"))),
        tokio::join!(boxed.call(text("a")), boxed.clone().call(text("a"))),
    ] {
        let (a, b) = (a.unwrap_err(), b.unwrap_err());
        assert!(a.is::<FlightError>());
        assert_eq!(a.to_string(), "broken 7");
        assert_eq!(a.source().unwrap().downcast_ref(), Some(&Broken(7)));
        assert!(std::ptr::eq(
            find::<Broken>(&*a).unwrap(),
            find::<Broken>(&*b).unwrap()
        ));
    }
    assert_eq!(calls.made(), 2);
    assert_eq!(layer.stats().snapshot().flights_open, 0);
    assert!(
        concrete.call(text("a")).await.is_err(),
        "and the key is free"
    );
    assert_eq!(calls.made(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_call_is_a_typed_error_for_all_and_frees_the_key() {
    let calls = Calls::default();
    let counted = calls.clone();
    let layer = CoalesceLayer::new(same);
    let mut service = layer.layer(service_fn(move |_: String| {
        let alive = counted.enter();
        async move {
            sleep(SECOND).await;
            let _alive = alive;
            if true {
                panic!("in the call");
            }
            Ok::<_, Infallible>(text("never"))
        }
    }));
    for round in 1..=2 {
        let (a, b) = tokio::join!(service.call(text("a")), service.clone().call(text("a")));
        assert!(a.unwrap_err().is::<LeaderPanicked>());
        assert!(b.unwrap_err().is::<LeaderPanicked>());
        let stats = layer.stats().snapshot();
        assert_eq!((stats.panicked, stats.flights_open), (round, 0));
    }
    assert_eq!((calls.made(), calls.alive()), (2, 0));
}

#[derive(Clone)]
struct PanicsInCall;

impl Service<String> for PanicsInCall {
    type Response = String;
    type Error = Infallible;
    type Future = std::future::Ready<Result<String, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: String) -> Self::Future {
        panic!("before there is a future");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_before_the_call_has_a_future_is_the_same() {
    let mut service = CoalesceLayer::new(same).layer(PanicsInCall);
    assert!(
        service
            .call(text("a"))
            .await
            .unwrap_err()
            .is::<LeaderPanicked>()
    );
    assert!(
        service
            .call(text("a"))
            .await
            .unwrap_err()
            .is::<LeaderPanicked>()
    );
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_policy_is_the_callers_own() {
    let calls = Calls::default();
    let policy = |request: &String| {
        assert_ne!(request, "bad", "this policy panics");
        Some(request.clone())
    };
    let service = CoalesceLayer::new(policy).layer(slow(&calls, SECOND));
    let good = tokio::spawn(service.clone().oneshot(text("a")));
    settle().await;
    let bad = tokio::spawn(service.clone().oneshot(text("bad"))).await;
    assert!(bad.unwrap_err().is_panic());
    assert_eq!(good.await.unwrap().unwrap(), "a!");
    assert_eq!(service.oneshot(text("b")).await.unwrap(), "b!");
}

/// A `Share` that panics where it is told to.
#[derive(Clone, Copy)]
enum Panics {
    Share,
    Open,
    Landed,
    Deserted,
    InDrive,
}

impl Share<String> for Panics {
    type Shared = String;
    type Drive = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
    type Response = (String, Lease);

    fn share(&self, response: String) -> (String, Self::Drive) {
        match self {
            Self::Share => panic!("in share"),
            Self::InDrive => (response, Box::pin(async { panic!("in the drive") })),
            Self::Deserted => (response, Box::pin(pending())),
            Self::Open | Self::Landed => (response, Box::pin(ready(()))),
        }
    }

    fn open(&self, shared: &String, lease: Lease, _: Role) -> Result<(String, Lease), Lease> {
        if let Self::Open = self {
            panic!("in open");
        }
        Ok((shared.clone(), lease))
    }

    fn pass(&self, _: String) -> (String, Lease) {
        panic!("nothing is passed in these tests");
    }

    fn landed(&self, _: &String, _: Result<(), FlightError>) {
        if let Self::Landed = self {
            panic!("in landed");
        }
    }

    fn deserted(&self, _: &String, _: OnAbandon) -> tower_coalesce::Rest {
        panic!("in deserted");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_share_poisons_nothing() {
    let calls = Calls::default();
    for panics in [
        Panics::Share,
        Panics::Open,
        Panics::Landed,
        Panics::Deserted,
        Panics::InDrive,
    ] {
        let layer = CoalesceLayer::new(same).share_with(panics);
        let service = layer.layer(slow(&calls, SECOND));
        for _ in 0..2 {
            let tasks: Vec<_> = (0..3)
                .map(|_| tokio::spawn(service.clone().oneshot(text("a"))))
                .collect();
            for task in tasks {
                let result = task.await;
                match panics {
                    Panics::Share | Panics::InDrive => {
                        let Ok(Err(error)) = result else {
                            panic!("expected an error")
                        };
                        assert!(error.is::<LeaderPanicked>());
                    }
                    Panics::Open => assert!(result.is_err_and(|error| error.is_panic())),
                    Panics::Landed | Panics::Deserted => {
                        assert_eq!(result.unwrap().unwrap().0, "a!");
                    }
                }
            }
            settle().await;
            assert_eq!(layer.stats().snapshot().flights_open, 0);
        }
    }
    assert_eq!(calls.made(), 10);
    assert_eq!(calls.alive(), 0);
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Colliding(String);

impl std::hash::Hash for Colliding {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u8(0);
    }
}

#[tokio::test(start_paused = true)]
async fn keys_with_equal_hashes_never_share() {
    let calls = Calls::default();
    let policy = |request: &String| Some(Colliding(request.clone()));
    let service = CoalesceLayer::new(policy).layer(slow(&calls, SECOND));
    let tasks: Vec<_> = (0..64)
        .map(|n| {
            let request = (n % 32).to_string();
            (
                tokio::spawn(service.clone().oneshot(request.clone())),
                format!("{request}!"),
            )
        })
        .collect();
    for (task, expected) in tasks {
        assert_eq!(task.await.unwrap().unwrap(), expected);
    }
    assert_eq!(calls.made(), 32);
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_key_never_shares() {
    let calls = Calls::default();
    let layer = CoalesceLayer::new(|_: &String| None::<String>);
    let service = layer.layer(slow(&calls, SECOND));
    let (a, b) = tokio::join!(
        service.clone().oneshot(text("a")),
        service.oneshot(text("a"))
    );
    assert!(a.is_ok() && b.is_ok());
    assert_eq!(calls.made(), 2);
    let stats = layer.stats().snapshot();
    assert_eq!((stats.bypassed, stats.leaders), (2, 0));
}

#[test]
fn a_bypass_needs_no_runtime_and_keeps_its_error() {
    let inner = service_fn(|_: String| ready(Err::<String, _>(Broken(1))));
    let mut service = CoalesceLayer::new(|_: &String| None::<String>).layer(inner);
    let mut call = task::spawn(service.call(text("a")));
    let error = assert_ready!(call.poll()).unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&Broken(1)));
}

#[tokio::test(start_paused = true)]
async fn a_bypass_that_leaves_drops_its_call() {
    let calls = Calls::default();
    let mut service = CoalesceLayer::new(|_: &String| None::<String>).layer(slow(&calls, SECOND));
    let mut call = task::spawn(service.call(text("a")));
    assert_pending!(call.poll());
    assert_eq!(calls.alive(), 1);
    drop(call);
    assert_eq!(calls.alive(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_flight_too_many_is_refused_but_joining_is_not() {
    let calls = Calls::default();
    let layer = CoalesceLayer::new(same).max_flights(2);
    let mut service = layer.layer(slow(&calls, SECOND));
    let a = service.call(text("a"));
    let b = service.call(text("b"));
    let error = service.call(text("c")).await.unwrap_err();
    assert_eq!(error.downcast_ref::<Overloaded>().unwrap().limit(), 2);
    let again = service.call(text("a"));
    let (a, b, again) = tokio::join!(a, b, again);
    assert!(a.is_ok() && b.is_ok() && again.is_ok());
    assert_eq!(service.call(text("c")).await.unwrap(), "c!");
    let stats = layer.stats().snapshot();
    assert_eq!(
        (stats.overloaded, stats.leaders, stats.followers),
        (1, 3, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_flight_past_its_age_fails_for_all_and_exactly_one_new_leader_follows() {
    let calls = Calls::default();
    let layer = CoalesceLayer::new(same).max_age(SECOND);
    let service = layer.layer(slow(&calls, SECOND * 3_600));
    let began = Instant::now();
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let service = service.clone();
            tokio::spawn(async move {
                let error = service.clone().oneshot(text("a")).await.unwrap_err();
                assert!(error.is::<TooOld>());
                service.oneshot(text("a")).await.unwrap_err()
            })
        })
        .collect();
    tokio::time::sleep(SECOND + Duration::from_millis(100)).await;
    assert_eq!((calls.made(), calls.alive()), (2, 1));
    for task in tasks {
        assert!(task.await.unwrap().is::<TooOld>());
    }
    assert!(began.elapsed() <= SECOND * 2 + Duration::from_millis(10));
    settle().await;
    assert_eq!((calls.made(), calls.alive()), (2, 0));
    assert_eq!(layer.stats().snapshot().too_old, 2);
}

#[tokio::test(start_paused = true)]
async fn followers_wait_as_long_as_the_leader_lives() {
    let calls = Calls::default();
    let service = CoalesceLayer::new(same).layer(slow(&calls, SECOND * 1_800));
    let (a, b) = tokio::join!(
        service.clone().oneshot(text("a")),
        service.oneshot(text("a"))
    );
    assert!(a.is_ok() && b.is_ok());
    assert_eq!(calls.made(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_above_ends_one_wait_and_not_the_call() {
    let calls = Calls::default();
    let service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    let impatient = timeout(SECOND / 2, service.clone().oneshot(text("a")));
    let (impatient, patient) = tokio::join!(impatient, service.clone().oneshot(text("a")));
    assert!(impatient.is_err());
    assert_eq!(patient.unwrap(), "a!");
    assert_eq!(calls.made(), 1);
}

#[tokio::test(start_paused = true)]
async fn after_a_thousand_flights_with_random_departures_nothing_is_left() {
    let calls = Calls::default();
    let layer = CoalesceLayer::new(same);
    let service = layer.layer(slow(&calls, Duration::from_millis(20)));
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let mut tasks = Vec::new();
    for _ in 0..1_000 {
        let request = random(40).to_string();
        let patience = Duration::from_millis(random(40));
        let call = service.clone().oneshot(request.clone());
        tasks.push(tokio::spawn(async move {
            if let Ok(answer) = timeout(patience, call).await {
                assert_eq!(answer.unwrap(), format!("{request}!"));
            }
        }));
        if random(3) == 0 {
            sleep(Duration::from_millis(random(10))).await;
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    settle().await;
    assert_eq!(calls.alive(), 0);
    let stats = layer.stats().snapshot();
    assert_eq!(stats.flights_open, 0);
    assert!(stats.abandoned > 0 && stats.followers > 0 && stats.leaders > 0);
}

/// Never done, and never without a reason to be polled again.
async fn greedy(_alive: Alive) -> Result<String, Infallible> {
    loop {
        tokio::task::coop::consume_budget().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_age_limit_is_seen_though_the_call_spends_its_whole_budget() {
    let calls = Calls::default();
    let counted = calls.clone();
    let layer = CoalesceLayer::new(same).max_age(SECOND);
    let mut service = layer.layer(service_fn(move |_: String| greedy(counted.enter())));
    let call = tokio::spawn(service.call(text("a")));
    settle().await;
    assert_eq!(calls.alive(), 1);
    tokio::time::advance(2 * SECOND).await;
    settle().await;
    assert_eq!(calls.alive(), 0);
    assert!(call.await.unwrap().unwrap_err().is::<TooOld>());
}

#[tokio::test(start_paused = true)]
async fn a_departure_is_seen_though_the_call_spends_its_whole_budget() {
    let calls = Calls::default();
    let counted = calls.clone();
    let mut service =
        CoalesceLayer::new(same).layer(service_fn(move |_: String| greedy(counted.enter())));
    let call = service.call(text("a"));
    settle().await;
    assert_eq!(calls.alive(), 1);
    drop(call);
    settle().await;
    assert_eq!(calls.alive(), 0);
}

#[tokio::test(start_paused = true)]
async fn no_task_outlives_the_callers_and_the_service() {
    let calls = Calls::default();
    let mut service = CoalesceLayer::new(same).layer(slow(&calls, SECOND));
    let pending: Vec<_> = (0..10).map(|n| service.call(n.to_string())).collect();
    settle().await;
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    assert_eq!(tasks(), 10);
    drop(service);
    settle().await;
    assert_eq!(tasks(), 10, "the callers are still there");
    drop(pending);
    settle().await;
    assert_eq!(tasks(), 0);
}

#[test]
fn a_runtime_that_shuts_down_aborts_the_flight_and_frees_its_key() {
    let calls = Calls::default();
    let layer = CoalesceLayer::new(same);
    let mut service = layer.layer(slow(&calls, SECOND));
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
    };
    let first = runtime();
    let waiter = {
        let _guard = first.enter();
        service.call(text("a"))
    };
    first.block_on(settle());
    assert_eq!(calls.alive(), 1);
    drop(first);
    assert_eq!(calls.alive(), 0);
    let mut waiter = task::spawn(waiter);
    let error = assert_ready!(waiter.poll()).unwrap_err();
    assert!(error.is::<LeaderAborted>());
    assert_eq!(layer.stats().snapshot().flights_open, 0);
    runtime().block_on(async { assert!(service.call(text("a")).await.is_ok()) });
}

#[test]
fn a_call_outside_a_runtime_panics_and_leaves_no_key() {
    let layer = CoalesceLayer::new(same);
    let service = layer.layer(slow(&Calls::default(), SECOND));
    let mut clone = service.clone();
    let outside = std::panic::AssertUnwindSafe(|| drop(clone.call(text("a"))));
    assert!(std::panic::catch_unwind(outside).is_err());
    assert_eq!(layer.stats().snapshot().flights_open, 0);
}

#[tokio::test(start_paused = true)]
async fn one_service_takes_several_types_of_request() {
    #[derive(Clone)]
    struct Twice;
    impl Service<u32> for Twice {
        type Response = u32;
        type Error = Infallible;
        type Future = std::future::Ready<Result<u32, Infallible>>;
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, n: u32) -> Self::Future {
            ready(Ok(n * 2))
        }
    }
    impl Service<String> for Twice {
        type Response = String;
        type Error = Infallible;
        type Future = std::future::Ready<Result<String, Infallible>>;
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, s: String) -> Self::Future {
            ready(Ok(s.repeat(2)))
        }
    }
    #[derive(Clone)]
    struct Whole;
    impl<Req> tower_coalesce::Policy<Req> for Whole
    where
        Req: Clone + Eq + std::hash::Hash + Send + Sync + 'static,
    {
        type Key = Req;
        fn key(&self, request: &Req) -> Option<Req> {
            Some(request.clone())
        }
    }
    let service = CoalesceLayer::new(Whole).layer(Twice);
    assert_eq!(service.clone().oneshot(4_u32).await.unwrap(), 8);
    assert_eq!(service.clone().oneshot(text("ab")).await.unwrap(), "abab");
    assert_eq!(service.oneshot(5_u32).await.unwrap(), 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_threads_share_and_leave_nothing_behind() {
    let calls = Calls::default();
    let counted = calls.clone();
    let layer = CoalesceLayer::new(same);
    let service = layer.layer(service_fn(move |request: String| {
        let alive = counted.enter();
        async move {
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
            drop(alive);
            Ok::<_, Infallible>(request)
        }
    }));
    let tasks: Vec<_> = (0..64)
        .map(|task| {
            let service = service.clone();
            tokio::spawn(async move {
                for n in 0..200 {
                    let request = ((n + task) % 5).to_string();
                    let call = service.clone().oneshot(request.clone());
                    if (n + task) % 7 == 0 {
                        let mut call = Box::pin(call);
                        // One poll, then it leaves.
                        std::future::poll_fn(|cx| {
                            let _ = call.as_mut().poll(cx);
                            Poll::Ready(())
                        })
                        .await;
                    } else {
                        assert_eq!(call.await.unwrap(), request);
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    while calls.alive() > 0 || layer.stats().snapshot().flights_open > 0 {
        tokio::task::yield_now().await;
    }
    assert!(calls.made() < 64 * 200);
}

#[test]
fn futures_are_small() {
    let mut service = CoalesceLayer::new(same).layer(service_fn(|request: String| {
        ready(Ok::<_, Infallible>(request))
    }));
    let size = {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let _guard = runtime.enter();
        size_of_val(&service.call(text("a")))
    };
    // A waiter's own state is a pointer and a ticket; the rest is the request, the service and the bypassed call.
    assert!(size <= 160, "{size}");
}
