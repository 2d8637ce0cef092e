//! Streaming responses: one body, many readers.
#![cfg(all(feature = "http", not(tower_coalesce_loom)))]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use tokio_test::{assert_pending, assert_ready, task};
use tower::{BoxError, Service, ServiceExt, service_fn};
use tower_coalesce::error::{Lagged, LeaderPanicked, TooOld};
use tower_coalesce::http::{Body, SharedBody};
use tower_coalesce::{Coalesce, CoalesceLayer, FlightError, OnAbandon, Role, Stats};
use tower_layer::Layer;

use self::support::{Alive, Calls, find, settle};

const SECOND: Duration = Duration::from_secs(1);

/// Whether a body tells of its end before it is asked for a frame that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hints {
    None,
    End,
    /// Only the length, as a wrapper may that forwards no more.
    Length(u64),
}

const BOTH: [Hints; 2] = [Hints::None, Hints::End];

/// What a recorder does once it has all.
type AtEnd = Option<Box<dyn FnOnce() + Send>>;

type Frames = mpsc::UnboundedSender<Result<Frame<Bytes>, BoxError>>;

/// A body that the test feeds.
struct Fed {
    frames: mpsc::UnboundedReceiver<Result<Frame<Bytes>, BoxError>>,
    hints: Hints,
    left: u64,
    read: Arc<AtomicUsize>,
    frames_read: Arc<AtomicUsize>,
    at_end: AtEnd,
    panics: bool,
    _alive: Alive,
}

impl Fed {
    fn ended(&self) -> bool {
        self.frames.is_closed() && self.frames.is_empty()
    }

    fn end(&mut self) {
        if let Some(at_end) = self.at_end.take() {
            at_end();
        }
    }
}

impl http_body::Body for Fed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = std::task::ready!(self.frames.poll_recv(cx));
        assert!(!self.panics || frame.is_none(), "this body panics");
        self.frames_read.fetch_add(1, Ordering::SeqCst);
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.read.fetch_add(data.len(), Ordering::SeqCst);
            self.left = self.left.saturating_sub(data.len() as u64);
        }
        // Like a recorder: it commits with the last frame where it knows that it is the last, else with the end.
        let last = match self.hints {
            Hints::None => frame.is_none(),
            Hints::End => self.ended(),
            Hints::Length(_) => self.left == 0,
        };
        if last {
            self.end();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.hints == Hints::End && self.ended()
    }

    fn size_hint(&self) -> SizeHint {
        match self.hints {
            Hints::Length(_) => SizeHint::with_exact(self.left),
            Hints::None | Hints::End => SizeHint::default(),
        }
    }
}

/// An upstream whose every response is fed by the test.
#[derive(Clone)]
struct Upstream {
    calls: Calls,
    hints: Hints,
    read: Arc<AtomicUsize>,
    frames_read: Arc<AtomicUsize>,
    feeds: Arc<Mutex<Vec<Frames>>>,
    at_end: Arc<Mutex<AtEnd>>,
    panics: bool,
}

impl Upstream {
    fn new(hints: Hints) -> Self {
        Self {
            calls: Calls::default(),
            hints,
            read: Arc::default(),
            frames_read: Arc::default(),
            feeds: Arc::default(),
            at_end: Arc::default(),
            panics: false,
        }
    }

    fn respond(&self) -> Response<Fed> {
        let (feed, frames) = mpsc::unbounded_channel();
        self.feeds.lock().push(feed);
        let body = Fed {
            frames,
            hints: self.hints,
            left: if let Hints::Length(length) = self.hints {
                length
            } else {
                0
            },
            read: Arc::clone(&self.read),
            frames_read: Arc::clone(&self.frames_read),
            at_end: self.at_end.lock().take(),
            panics: self.panics,
            _alive: self.calls.enter(),
        };
        Response::builder()
            .status(201)
            .header("x-upstream", "yes")
            .body(body)
            .unwrap()
    }

    /// The feed of the newest response.
    fn feed(&self) -> Frames {
        self.feeds.lock().last().unwrap().clone()
    }

    fn send(&self, text: impl Into<Bytes>) {
        self.feed().send(Ok(Frame::data(text.into()))).unwrap();
    }

    fn end(&self) {
        self.feeds.lock().clear();
    }

    fn read(&self) -> usize {
        self.read.load(Ordering::SeqCst)
    }
}

impl Service<Request<String>> for Upstream {
    type Response = Response<Fed>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<Fed>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<String>) -> Self::Future {
        ready(Ok(self.respond()))
    }
}

/// What a frame counts beside its bytes.
const OVERHEAD: u64 = 128;

type Keys = fn(&Request<String>) -> Option<String>;
type Front = Coalesce<Upstream, Keys, SharedBody>;

fn layer(share: SharedBody) -> CoalesceLayer<Keys, SharedBody> {
    let keys: Keys = |request| (request.uri() != "/bypass").then(|| request.body().clone());
    CoalesceLayer::new(keys).share_with(share)
}

fn front(upstream: &Upstream, share: SharedBody) -> (Front, Stats) {
    let layer = layer(share);
    (layer.layer(upstream.clone()), layer.stats())
}

async fn get(front: &Front) -> Response<Body<Fed>> {
    front
        .clone()
        .oneshot(Request::new("a".to_owned()))
        .await
        .unwrap()
}

async fn body(front: &Front) -> Body<Fed> {
    get(front).await.into_body()
}

async fn data(body: &mut Body<Fed>) -> Bytes {
    body.frame().await.unwrap().unwrap().into_data().unwrap()
}

fn error_of(result: Option<Result<Frame<Bytes>, BoxError>>) -> BoxError {
    result.unwrap().unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn every_reader_gets_head_frames_and_role() {
    for hints in BOTH {
        let upstream = Upstream::new(hints);
        let (front, stats) = front(&upstream, SharedBody::new());
        let (a, b) = tokio::join!(get(&front), get(&front));
        for (response, role) in [(&a, Role::Leader), (&b, Role::Follower)] {
            assert_eq!(response.status(), 201);
            assert_eq!(response.headers()["x-upstream"], "yes");
            assert_eq!(response.extensions().get::<Role>(), Some(&role));
        }
        let (mut a, mut b) = (a.into_body(), b.into_body());
        for word in ["one", "two", "three"] {
            upstream.send(word);
            assert_eq!(data(&mut a).await, word);
            assert_eq!(data(&mut b).await, word);
        }
        upstream.end();
        assert!(a.frame().await.is_none());
        assert!(b.frame().await.is_none());
        assert!(a.frame().await.is_none(), "and again");
        assert_eq!((upstream.calls.made(), upstream.calls.alive()), (1, 0));
        assert_eq!(stats.snapshot().flights_open, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_frame_reaches_everybody_in_the_moment_it_comes() {
    let upstream = Upstream::new(Hints::None);
    let (front, _) = front(&upstream, SharedBody::new());
    let mut readers = Vec::new();
    for _ in 0..50 {
        readers.push(body(&front).await);
    }
    let readers: Vec<_> = readers
        .into_iter()
        .map(|mut body| {
            tokio::spawn(async move {
                let mut times = Vec::new();
                while let Some(frame) = body.frame().await {
                    times.push((Instant::now(), frame.unwrap().into_data().unwrap()));
                }
                times
            })
        })
        .collect();
    let mut sent = Vec::new();
    for n in 0..10 {
        sleep(Duration::from_millis(20)).await;
        sent.push((Instant::now(), Bytes::from(n.to_string())));
        upstream.send(n.to_string());
    }
    sleep(Duration::from_millis(20)).await;
    upstream.end();
    for reader in readers {
        assert_eq!(reader.await.unwrap(), sent);
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_joiner_replays_and_then_goes_live() {
    for hints in BOTH {
        let upstream = Upstream::new(hints);
        let (front, _) = front(&upstream, SharedBody::new());
        let mut early = body(&front).await;
        for word in ["one", "two"] {
            upstream.send(word);
            assert_eq!(data(&mut early).await, word);
        }
        let mut late = body(&front).await;
        assert_eq!(data(&mut late).await, "one");
        assert_eq!(data(&mut late).await, "two");
        let mut next = task::spawn(late.frame());
        assert_pending!(next.poll());
        upstream.send("three");
        settle().await;
        assert!(next.is_woken());
        assert_ready!(next.poll()).unwrap().unwrap();
        drop(next);
        upstream.end();
        assert!(late.frame().await.is_none());
        assert_eq!(early.collect().await.unwrap().to_bytes(), "three");
        assert_eq!(upstream.calls.made(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn trailers_reach_everybody_repeated_ones_too() {
    for hints in BOTH {
        let upstream = Upstream::new(hints);
        let (front, _) = front(&upstream, SharedBody::new());
        let (a, b) = (body(&front).await, body(&front).await);
        let mut trailers = HeaderMap::new();
        trailers.append("x-sum", "1".parse().unwrap());
        trailers.append("x-sum", "2".parse().unwrap());
        upstream.send("data");
        upstream
            .feed()
            .send(Ok(Frame::trailers(trailers.clone())))
            .unwrap();
        upstream.end();
        for body in [a, b] {
            let all = body.collect().await.unwrap();
            assert_eq!(all.trailers(), Some(&trailers));
            assert_eq!(all.to_bytes(), "data");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_stream_is_the_same_error_for_all_and_never_a_clean_end() {
    #[derive(Debug)]
    struct Cut;
    impl std::fmt::Display for Cut {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("cut")
        }
    }
    impl std::error::Error for Cut {}
    for hints in BOTH {
        let upstream = Upstream::new(hints);
        let (front, stats) = front(&upstream, SharedBody::new());
        let (mut a, mut b) = (body(&front).await, body(&front).await);
        for word in ["one", "two"] {
            upstream.send(word);
            assert_eq!(data(&mut a).await, word);
        }
        upstream.feed().send(Err(Box::new(Cut))).unwrap();
        let in_a = error_of(a.frame().await);
        assert!(!a.is_end_stream() || a.frame().await.is_none());
        assert_eq!(data(&mut b).await, "one");
        assert_eq!(data(&mut b).await, "two");
        let in_b = error_of(b.frame().await);
        assert!(in_a.is::<FlightError>());
        assert_eq!(in_a.to_string(), "cut");
        assert!(std::ptr::eq(
            find::<Cut>(&*in_a).unwrap(),
            find::<Cut>(&*in_b).unwrap()
        ));
        assert_eq!(stats.snapshot().flights_open, 0);
        assert_eq!(upstream.calls.alive(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_body_is_a_typed_error_for_all() {
    let mut upstream = Upstream::new(Hints::None);
    upstream.panics = true;
    let (front, stats) = front(&upstream, SharedBody::new());
    let (mut a, mut b) = (body(&front).await, body(&front).await);
    upstream.send("boom");
    assert!(error_of(a.frame().await).is::<LeaderPanicked>());
    assert!(error_of(b.frame().await).is::<LeaderPanicked>());
    assert_eq!(stats.snapshot().flights_open, 0);
    let _next = body(&front).await;
    assert_eq!(upstream.calls.made(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stream_past_its_age_fails_for_all() {
    let upstream = Upstream::new(Hints::None);
    let front = layer(SharedBody::new())
        .max_age(SECOND)
        .layer(upstream.clone());
    let (mut a, mut b) = (body(&front).await, body(&front).await);
    upstream.send("one");
    assert_eq!(data(&mut a).await, "one");
    let began = Instant::now();
    assert!(error_of(a.frame().await).is::<TooOld>());
    assert!(began.elapsed() <= SECOND + Duration::from_millis(2));
    assert_eq!(data(&mut b).await, "one");
    assert!(error_of(b.frame().await).is::<TooOld>());
    assert_eq!(upstream.calls.alive(), 0);
}

#[tokio::test(start_paused = true)]
async fn any_reader_may_leave_and_the_last_one_closes_upstream_at_once() {
    let upstream = Upstream::new(Hints::None);
    let (front, stats) = front(&upstream, SharedBody::new());
    let (leader, mut follower) = (body(&front).await, body(&front).await);
    upstream.send("one");
    drop(leader);
    assert_eq!(data(&mut follower).await, "one");
    let began = Instant::now();
    drop(follower);
    settle().await;
    assert_eq!(upstream.calls.alive(), 0);
    assert_eq!(began.elapsed(), Duration::ZERO);
    let stats = stats.snapshot();
    assert_eq!((stats.abandoned, stats.flights_open), (1, 0));
    // The key is free.
    let _next = body(&front).await;
    assert_eq!(upstream.calls.made(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_leaves_is_not_missed_by_a_parked_one() {
    let upstream = Upstream::new(Hints::None);
    let (front, _) = front(&upstream, SharedBody::new());
    let (mut a, mut b) = (body(&front).await, body(&front).await);
    let mut a = task::spawn(a.frame());
    let mut parked = task::spawn(b.frame());
    assert_pending!(a.poll());
    assert_pending!(parked.poll());
    drop(a);
    upstream.send("one");
    settle().await;
    assert!(parked.is_woken());
    assert_ready!(parked.poll()).unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_stalls_nobody_and_lags_a_cap_behind() {
    let upstream = Upstream::new(Hints::None);
    let (front, stats) = front(
        &upstream,
        SharedBody::new().cap(10 * (1_000 + OVERHEAD)).window(1_000),
    );
    let (mut fast, mut slow) = (body(&front).await, body(&front).await);
    let frame = Bytes::from(vec![b'x'; 1_000]);
    for _ in 0..10 {
        upstream.send(frame.clone());
        assert_eq!(data(&mut fast).await.len(), 1_000);
    }
    // Ten behind is not too far.
    assert_eq!(data(&mut slow).await.len(), 1_000);
    for _ in 0..50 {
        upstream.send(frame.clone());
        assert_eq!(data(&mut fast).await.len(), 1_000);
    }
    let error = error_of(slow.frame().await);
    assert!(error.is::<Lagged>());
    assert!(slow.frame().await.is_none());
    assert_eq!(stats.snapshot().lagged, 1);
    upstream.end();
    assert!(fast.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_lone_slow_reader_holds_the_upstream_back() {
    let upstream = Upstream::new(Hints::None);
    let (front, _) = front(&upstream, SharedBody::new().window(4_000));
    let mut reader = body(&front).await;
    // 61 MB, as in the fault that others had.
    for _ in 0..61_000 {
        upstream.send(Bytes::from_static(&[b'x'; 1_000]));
    }
    settle().await;
    assert_eq!(upstream.read(), 4_000);
    for n in 1..=10 {
        data(&mut reader).await;
        settle().await;
        assert_eq!(upstream.read(), 4_000 + n * 1_000);
    }
    upstream.end();
    assert_eq!(
        reader.collect().await.unwrap().to_bytes().len(),
        61_000_000 - 10_000
    );
}

#[tokio::test(start_paused = true)]
async fn the_smallest_window_and_cap_still_deliver_everything() {
    for hints in BOTH {
        let upstream = Upstream::new(hints);
        let (front, stats) = front(&upstream, SharedBody::new().window(0).cap(0));
        let mut reader = body(&front).await;
        for n in 0..100_u32 {
            upstream.send(n.to_string());
        }
        upstream.end();
        for n in 0..100_u32 {
            assert_eq!(data(&mut reader).await, n.to_string());
        }
        assert!(reader.frame().await.is_none());
        assert_eq!(stats.snapshot().lagged, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_empty_frames_is_bounded_too() {
    let upstream = Upstream::new(Hints::None);
    let (front, _) = front(&upstream, SharedBody::new().window(100 * OVERHEAD));
    let _reader = body(&front).await;
    for _ in 0..100_000 {
        upstream.send("");
    }
    settle().await;
    assert_eq!(upstream.frames_read.load(Ordering::SeqCst), 100);
}

#[tokio::test(start_paused = true)]
async fn past_the_cap_a_joiner_starts_a_flight_that_takes_the_key_over() {
    let upstream = Upstream::new(Hints::None);
    let (front, stats) = front(&upstream, SharedBody::new().cap(2_500));
    let mut first = body(&front).await;
    let old = upstream.feed();
    for _ in 0..3 {
        upstream.send(vec![b'x'; 1_000]);
        data(&mut first).await;
    }
    // Too late for the first flight.
    let response = get(&front).await;
    assert_eq!(response.extensions().get(), Some(&Role::Leader));
    let mut second = response.into_body();
    assert_eq!(upstream.calls.made(), 2);
    // Whoever comes now joins the second flight, and goes on doing so when the first one ends.
    let mut third = body(&front).await;
    old.send(Ok(Frame::data("last".into()))).unwrap();
    assert_eq!(data(&mut first).await, "last");
    drop(old);
    upstream.feeds.lock().remove(0);
    assert!(first.frame().await.is_none());
    let mut fourth = body(&front).await;
    assert_eq!(upstream.calls.made(), 2);
    upstream.send("new");
    for reader in [&mut second, &mut third, &mut fourth] {
        assert_eq!(data(reader).await, "new");
    }
    let counted = stats.snapshot();
    assert_eq!(
        (counted.refused, counted.leaders, counted.flights_open),
        (1, 2, 1)
    );
    drop((second, third, fourth));
    settle().await;
    assert_eq!(stats.snapshot().flights_open, 0);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_opens_late_is_never_refused() {
    let upstream = Upstream::new(Hints::None);
    let (mut front, _) = front(&upstream, SharedBody::new().cap(2_500));
    let mut leader = task::spawn(front.call(Request::new("a".to_owned())));
    assert_pending!(leader.poll());
    let mut follower = body(&front).await;
    for _ in 0..3 {
        upstream.send(vec![b'x'; 1_000]);
    }
    data(&mut follower).await;
    data(&mut follower).await;
    // Its place was kept: it reads from the start, past the cap or not.
    let mut leader = assert_ready!(leader.poll()).unwrap().into_body();
    assert_eq!(data(&mut leader).await.len(), 1_000);
    assert_eq!(upstream.calls.made(), 1);
    for _ in 0..10 {
        upstream.send(vec![b'x'; 1_000]);
        data(&mut follower).await;
    }
    assert!(error_of(leader.frame().await).is::<Lagged>());
}

#[tokio::test(start_paused = true)]
async fn past_the_cap_what_all_have_read_is_dropped() {
    struct Watched(Vec<u8>, Arc<AtomicUsize>);
    impl AsRef<[u8]> for Watched {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    impl Drop for Watched {
        fn drop(&mut self) {
            self.1.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let held = Arc::new(AtomicUsize::new(0));
    let upstream = Upstream::new(Hints::None);
    let (front, _) = front(&upstream, SharedBody::new().cap(10_000));
    let (mut a, mut b) = (body(&front).await, body(&front).await);
    let mut most = 0;
    for _ in 0..1_000 {
        held.fetch_add(1, Ordering::SeqCst);
        upstream.send(Bytes::from_owner(Watched(
            vec![b'x'; 1_000],
            Arc::clone(&held),
        )));
        data(&mut a).await;
        data(&mut b).await;
        most = most.max(held.load(Ordering::SeqCst));
    }
    assert!(most <= 12, "{most}");
    assert!(held.load(Ordering::SeqCst) <= 1);
}

#[tokio::test(start_paused = true)]
async fn a_complete_stream_is_drained_when_its_last_reader_leaves() {
    for hints in BOTH {
        let committed = Arc::new(AtomicUsize::new(0));
        let commit = Arc::clone(&committed);
        let upstream = Upstream::new(hints);
        *upstream.at_end.lock() = Some(Box::new(move || {
            commit.fetch_add(1, Ordering::SeqCst);
        }));
        let done = |tail: &[u8]| tail.ends_with(b"data: [DONE]\n\n");
        let (front, stats) = front(&upstream, SharedBody::new().complete_when(done));
        let mut reader = body(&front).await;
        upstream.send("data: 1\n\n");
        // In two frames, as it may come.
        upstream.send("data: [DO");
        upstream.send("NE]\n\n");
        for _ in 0..3 {
            data(&mut reader).await;
        }
        drop(reader);
        sleep(SECOND / 2).await;
        assert_eq!(upstream.calls.alive(), 1);
        // Who comes now gets all of it, without a call.
        let mut joined = body(&front).await;
        assert_eq!(data(&mut joined).await, "data: 1\n\n");
        drop(joined);
        sleep(SECOND / 4).await;
        upstream.end();
        settle().await;
        assert_eq!((upstream.calls.made(), upstream.calls.alive()), (1, 0));
        assert_eq!(committed.load(Ordering::SeqCst), 1);
        let stats = stats.snapshot();
        assert_eq!((stats.abandoned, stats.flights_open), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_takes_a_second_at_most() {
    let upstream = Upstream::new(Hints::None);
    let (front, stats) = front(&upstream, SharedBody::new().complete_when(|_| true));
    let mut reader = body(&front).await;
    upstream.send("data");
    data(&mut reader).await;
    drop(reader);
    sleep(SECOND - Duration::from_millis(5)).await;
    assert_eq!(upstream.calls.alive(), 1);
    sleep(Duration::from_millis(10)).await;
    assert_eq!(upstream.calls.alive(), 0);
    let stats = stats.snapshot();
    assert_eq!((stats.abandoned, stats.flights_open), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn who_joins_a_drain_may_stay() {
    let upstream = Upstream::new(Hints::None);
    let (front, _) = front(&upstream, SharedBody::new().complete_when(|_| true));
    let mut reader = body(&front).await;
    upstream.send("data");
    data(&mut reader).await;
    drop(reader);
    sleep(SECOND / 2).await;
    let mut joined = body(&front).await;
    sleep(SECOND * 10).await;
    upstream.send("more");
    assert_eq!(data(&mut joined).await, "data");
    assert_eq!(data(&mut joined).await, "more");
    assert_eq!(upstream.calls.made(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_body_of_known_length_is_complete_with_its_last_byte() {
    let committed = Arc::new(AtomicUsize::new(0));
    let commit = Arc::clone(&committed);
    let upstream = Upstream::new(Hints::Length(8));
    *upstream.at_end.lock() = Some(Box::new(move || {
        commit.fetch_add(1, Ordering::SeqCst);
    }));
    let (front, stats) = front(&upstream, SharedBody::new());
    let mut reader = body(&front).await;
    assert_eq!(reader.size_hint().exact(), Some(8));
    upstream.send("1234");
    data(&mut reader).await;
    assert_eq!(reader.size_hint().exact(), Some(4));
    upstream.send("5678");
    // The end has not come, but nothing is held back for it.
    assert_eq!(data(&mut reader).await, "5678");
    assert_eq!(reader.size_hint().exact(), Some(0));
    // As hyper does once the length is reached: it never asks for the end.
    drop(reader);
    settle().await;
    assert_eq!(upstream.calls.alive(), 1, "it is drained");
    upstream.end();
    settle().await;
    assert_eq!(committed.load(Ordering::SeqCst), 1);
    let stats = stats.snapshot();
    assert_eq!((stats.abandoned, stats.flights_open), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_end_that_is_known_with_the_last_frame_is_seen_with_it() {
    let upstream = Upstream::new(Hints::End);
    let (front, stats) = front(&upstream, SharedBody::new());
    let mut reader = body(&front).await;
    assert!(!reader.is_end_stream());
    upstream.send("only");
    upstream.end();
    settle().await;
    assert_eq!(stats.snapshot().flights_open, 0);
    assert_eq!(data(&mut reader).await, "only");
    assert!(reader.is_end_stream());
    assert_eq!(reader.size_hint().exact(), Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_there_at_once_has_its_length_and_its_end_at_once() {
    let calls = Calls::default();
    let counted = calls.clone();
    let keys: Keys = |request| Some(request.body().clone());
    let front = CoalesceLayer::new(keys)
        .share_with(SharedBody::new())
        .layer(service_fn(move |request: Request<String>| {
            drop(counted.enter());
            ready(Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(
                request.into_body(),
            )))))
        }));
    for text in ["whole", ""] {
        let response = front
            .clone()
            .oneshot(Request::new(text.to_owned()))
            .await
            .unwrap();
        let mut body = response.into_body();
        assert_eq!(body.size_hint().exact(), Some(text.len() as u64));
        assert_eq!(body.is_end_stream(), text.is_empty());
        if !text.is_empty() {
            assert_eq!(
                body.frame().await.unwrap().unwrap().into_data().unwrap(),
                text
            );
        }
        assert!(body.is_end_stream());
    }
    assert_eq!(calls.made(), 2);
}

/// Counts its clones.
struct Counted(Arc<AtomicUsize>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(&self.0))
    }
}

#[tokio::test(start_paused = true)]
async fn the_head_is_not_copied_for_who_is_alone() {
    for callers in 1..=3 {
        let clones = Arc::new(AtomicUsize::new(0));
        let inner = service_fn({
            let clones = Arc::clone(&clones);
            move |_: Request<()>| {
                let mut response = Response::new(Full::new(Bytes::from("whole")));
                response
                    .headers_mut()
                    .insert("x-tag", "one".parse().unwrap());
                response
                    .extensions_mut()
                    .insert(Counted(Arc::clone(&clones)));
                ready(Ok::<_, Infallible>(response))
            }
        });
        let layer = CoalesceLayer::new(|_: &Request<()>| Some(())).share_with(SharedBody::new());
        let service = layer.layer(inner);
        let calls: Vec<_> = (0..callers)
            .map(|_| tokio::spawn(service.clone().oneshot(Request::new(()))))
            .collect();
        let mut answers = Vec::new();
        for call in calls {
            answers.push(call.await.unwrap().unwrap());
        }
        assert_eq!(layer.stats().snapshot().leaders, 1);
        let expected = if callers == 1 { 0 } else { callers };
        assert_eq!(clones.load(Ordering::SeqCst), expected);
        for answer in answers {
            assert_eq!(answer.headers()["x-tag"], "one");
            assert!(answer.extensions().get::<Counted>().is_some());
            assert_eq!(
                answer.into_body().collect().await.unwrap().to_bytes(),
                "whole"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_sees_the_end_and_asks_again_starts_a_new_call_after_the_commit() {
    for hints in [Hints::None, Hints::End, Hints::Length(3)] {
        for ended_at_once in [true, false] {
            let commits = Arc::new(AtomicUsize::new(0));
            let upstream = Upstream::new(hints);
            let (front, _) = front(&upstream, SharedBody::new());
            let commit = Arc::clone(&commits);
            *upstream.at_end.lock() = Some(Box::new(move || {
                commit.fetch_add(1, Ordering::SeqCst);
            }));
            let readers: Vec<_> = [body(&front).await, body(&front).await, body(&front).await]
                .into_iter()
                .map(|mut body| {
                    let (mut front, commits) = (front.clone(), Arc::clone(&commits));
                    tokio::spawn(async move {
                        while !body.is_end_stream() && body.frame().await.is_some() {}
                        // This very moment. Dropping the call abandons the new flight.
                        let committed = commits.load(Ordering::SeqCst);
                        let next = front.call(Request::new("a".to_owned()));
                        (
                            committed,
                            next.await.unwrap().extensions().get::<Role>().copied(),
                        )
                    })
                })
                .collect();
            settle().await;
            upstream.send("end");
            if !ended_at_once {
                settle().await;
            }
            upstream.end();
            let mut leaders = 0;
            for reader in readers {
                let (committed, role) = reader.await.unwrap();
                assert_eq!(committed, 1, "{hints:?}");
                leaders += usize::from(role == Some(Role::Leader));
            }
            assert!(
                leaders >= 1,
                "{hints:?}: at least the first of them leads a new call"
            );
            assert_eq!(upstream.calls.made(), 1 + leaders);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn finish_reads_an_abandoned_stream_to_its_end() {
    for left in ["before the response", "with it", "in the stream"] {
        let upstream = Upstream::new(Hints::None);
        let layer = layer(SharedBody::new().window(100).cap(1_000)).on_abandon(OnAbandon::Finish);
        let mut front = layer.layer(upstream.clone());
        match left {
            "before the response" => drop(front.call(Request::new("a".to_owned()))),
            "with it" => drop(get(&front).await),
            _ => {
                let mut reader = body(&front).await;
                upstream.send("first");
                data(&mut reader).await;
            }
        }
        settle().await;
        for _ in 0..1_000 {
            upstream.send(vec![b'x'; 100]);
        }
        upstream.end();
        for _ in 0..100 {
            settle().await;
        }
        assert!(upstream.read() >= 100_000, "{left}");
        assert_eq!(
            (upstream.calls.made(), upstream.calls.alive()),
            (1, 0),
            "{left}"
        );
        let stats = layer.stats().snapshot();
        assert_eq!((stats.flights_open, stats.abandoned), (0, 0), "{left}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_joins_an_abandoned_stream_that_finishes_holds_it_back_again() {
    let upstream = Upstream::new(Hints::None);
    let front = layer(SharedBody::new().window(5 * (100 + OVERHEAD)))
        .on_abandon(OnAbandon::Finish)
        .layer(upstream.clone());
    drop(body(&front).await);
    for _ in 0..20 {
        upstream.send(vec![b'x'; 100]);
    }
    settle().await;
    assert_eq!(upstream.read(), 2_000, "nobody holds it back");
    let mut reader = body(&front).await;
    for _ in 0..20 {
        upstream.send(vec![b'x'; 100]);
    }
    settle().await;
    assert!(
        upstream.read() <= 2_100,
        "but for one frame it was already reading"
    );
    for _ in 0..20 {
        data(&mut reader).await;
    }
    settle().await;
    assert_eq!(upstream.read(), 2_500);
    assert_eq!(upstream.calls.made(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_bypassed_response_passes_through_untouched() {
    let upstream = Upstream::new(Hints::Length(4));
    let (front, stats) = front(&upstream, SharedBody::new());
    let request = || {
        Request::builder()
            .uri("/bypass")
            .body("a".to_owned())
            .unwrap()
    };
    let response = front.clone().oneshot(request()).await.unwrap();
    let _other = front.clone().oneshot(request()).await.unwrap();
    assert_eq!(upstream.calls.made(), 2);
    assert_eq!(response.extensions().get(), Some(&Role::Bypass));
    let mut reader = response.into_body();
    assert_eq!(reader.size_hint().exact(), Some(4));
    let feed = upstream.feeds.lock().remove(0);
    feed.send(Ok(Frame::data("1234".into()))).unwrap();
    assert_eq!(data(&mut reader).await, "1234");
    feed.send(Err("cut".into())).unwrap();
    assert_eq!(error_of(reader.frame().await).to_string(), "cut");
    drop(reader);
    assert_eq!(upstream.calls.alive(), 1, "and is dropped with its reader");
    assert_eq!(stats.snapshot().bypassed, 2);
}

#[tokio::test(start_paused = true)]
async fn a_reader_is_polled_twice_a_frame_at_most() {
    let upstream = Upstream::new(Hints::None);
    let (front, _) = front(&upstream, SharedBody::new());
    let polls: Vec<_> = (0..15).map(|_| Arc::new(AtomicUsize::new(0))).collect();
    let mut tasks = Vec::new();
    for polls in &polls {
        let mut body = body(&front).await;
        let all = async move { while body.frame().await.is_some() {} };
        tasks.push(tokio::spawn(support::Counted::new(all, polls)));
    }
    for n in 0..100 {
        sleep(Duration::from_millis(10)).await;
        upstream.send(n.to_string());
    }
    sleep(Duration::from_millis(10)).await;
    upstream.end();
    for task in tasks {
        task.await.unwrap();
    }
    for polls in polls {
        assert!(polls.load(Ordering::SeqCst) <= 102);
    }
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_readers_of_one_stream_cost_one_call() {
    let upstream = Upstream::new(Hints::End);
    let (front, _) = front(&upstream, SharedBody::new());
    let tasks: Vec<_> = (0..10_000)
        .map(|_| {
            let front = front.clone();
            tokio::spawn(async move { body(&front).await.collect().await.unwrap().to_bytes() })
        })
        .collect();
    for word in ["a", "b", "c"] {
        // Paused time moves on only when there is nothing else to do.
        sleep(Duration::from_millis(1)).await;
        upstream.send(word);
    }
    upstream.end();
    for task in tasks {
        assert_eq!(task.await.unwrap(), "abc");
    }
    assert_eq!(upstream.calls.made(), 1);
}

#[tokio::test(start_paused = true)]
async fn random_readers_that_come_and_go_read_a_prefix_and_leave_nothing() {
    let upstream = Upstream::new(Hints::None);
    let share = SharedBody::new().cap(5_000).window(700);
    let (front, stats) = front(&upstream, share);
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let mut tasks = Vec::new();
    for _ in 0..300 {
        let front = front.clone();
        let (pace, stay) = (Duration::from_millis(random(4)), random(60));
        tasks.push(tokio::spawn(async move {
            let mut body = body(&front).await;
            for n in 0..stay {
                sleep(pace).await;
                match body.frame().await {
                    Some(Ok(frame)) => {
                        let data = frame.into_data().unwrap();
                        assert_eq!(data, n.to_string().repeat(100).as_bytes()[..100]);
                    }
                    Some(Err(error)) => {
                        assert!(error.is::<Lagged>());
                        break;
                    }
                    None => break,
                }
            }
        }));
        sleep(Duration::from_millis(random(3))).await;
        // Every stream has the same content.
        for feed in std::mem::take(&mut *upstream.feeds.lock()) {
            for n in 0..60 {
                let text = n.to_string().repeat(100);
                let _ = feed.send(Ok(Frame::data(Bytes::copy_from_slice(
                    &text.as_bytes()[..100],
                ))));
            }
        }
    }
    settle().await;
    upstream.end();
    for task in tasks {
        task.await.unwrap();
    }
    settle().await;
    assert_eq!(upstream.calls.alive(), 0);
    assert_eq!(stats.snapshot().flights_open, 0);
}
