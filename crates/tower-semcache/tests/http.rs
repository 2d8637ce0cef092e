//! Recording and replaying HTTP responses.
#![cfg(feature = "http")]

mod common;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use common::lookup;
use http::header::{AGE, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use tower::{BoxError, Layer, Service, ServiceExt, service_fn};
use tower_semcache::http::{Answer, Asked, Body, HttpRecord};
use tower_semcache::{
    AcceptAll, Cache, CacheLayer, Control, Detail, Lookup, Outcome, Policy, ProbeLayer,
};

/// What an inner body does, one step a poll.
#[derive(Clone, Debug)]
enum Step {
    Data(&'static str),
    Slice(Bytes),
    Trailers,
    Fail,
    Wait,
}

/// How much a body says about its end in advance.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hint {
    None,
    EndOfStream,
    Length,
}

const HINTS: [Hint; 3] = [Hint::None, Hint::EndOfStream, Hint::Length];

#[derive(Clone, Debug)]
struct Mock {
    steps: VecDeque<Step>,
    hint: Hint,
}

impl Mock {
    fn new(steps: &[Step], hint: Hint) -> Self {
        Self {
            steps: steps.iter().cloned().collect(),
            hint,
        }
    }

    fn len(&self) -> u64 {
        let len = |step: &Step| match step {
            Step::Data(data) => data.len(),
            Step::Slice(data) => data.len(),
            Step::Trailers | Step::Fail | Step::Wait => 0,
        };
        self.steps.iter().map(len).sum::<usize>() as u64
    }
}

impl http_body::Body for Mock {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.steps.pop_front() {
            Some(Step::Data(data)) => Poll::Ready(Some(Ok(Frame::data(Bytes::from(data))))),
            Some(Step::Slice(data)) => Poll::Ready(Some(Ok(Frame::data(data)))),
            Some(Step::Trailers) => {
                let mut trailers = HeaderMap::new();
                trailers.append("x-sum", HeaderValue::from_static("1"));
                trailers.append("x-sum", HeaderValue::from_static("2"));
                Poll::Ready(Some(Ok(Frame::trailers(trailers))))
            }
            Some(Step::Fail) => Poll::Ready(Some(Err("cut".into()))),
            Some(Step::Wait) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.hint != Hint::None && self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if self.hint == Hint::Length {
            SizeHint::with_exact(self.len())
        } else {
            SizeHint::new()
        }
    }
}

type Req = Request<&'static str>;

/// Headers decide what the caller allows; the path what is asked; `x-bypass` bypasses.
fn policy(request: &Req) -> Option<Lookup> {
    let control = Control::from_headers(request.headers());
    let lookup = lookup("t", request.uri().path()).control(control);
    (!request.headers().contains_key("x-bypass")).then_some(lookup)
}

fn request(headers: &[(&'static str, &'static str)]) -> Req {
    let mut request = Request::new("");
    for (name, value) in headers {
        request
            .headers_mut()
            .append(*name, HeaderValue::from_static(value));
    }
    request
}

struct Rig {
    cache: Cache<Answer>,
    record: HttpRecord,
    calls: Arc<AtomicUsize>,
    response: Response<Mock>,
}

impl Rig {
    fn new(steps: &[Step], hint: Hint) -> Self {
        let mut response = Response::new(Mock::new(steps, hint));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        Self {
            cache: Cache::builder()
                .max_entry_bytes(4_096)
                .build()
                .expect("valid"),
            record: HttpRecord::new("test"),
            calls: Arc::default(),
            response,
        }
    }

    fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.response
            .headers_mut()
            .append(name, HeaderValue::from_static(value));
        self
    }

    async fn send(&self, request: Req) -> Response<Body<Mock>> {
        let (calls, response) = (Arc::clone(&self.calls), self.response.clone());
        let inner = service_fn(move |_: Req| {
            calls.fetch_add(1, Ordering::SeqCst);
            let response = response.clone();
            async move { Ok::<_, Infallible>(response) }
        });
        let layer = CacheLayer::new(self.cache.clone(), policy, self.record.clone());
        layer
            .layer(inner)
            .oneshot(request)
            .await
            .expect("the mock answers")
    }

    /// Sends a request and reads the answer to its end.
    async fn read(&self, headers: &[(&'static str, &'static str)]) -> (Outcome, Bytes) {
        let response = self.send(request(headers)).await;
        let outcome = *response.extensions().get::<Outcome>().expect("an outcome");
        let body = response
            .into_body()
            .collect()
            .await
            .expect("a clean end")
            .to_bytes();
        (outcome, body)
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

fn status(response: &Response<Body<Mock>>) -> &str {
    response.headers()["cache-status"].to_str().expect("text")
}

fn is_hit(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Hit {
            detail: Detail::Exact,
            ..
        }
    )
}

fn is_miss(outcome: Outcome) -> bool {
    outcome == Outcome::Miss
}

const HELLO: [Step; 4] = [
    Step::Data("he"),
    Step::Wait,
    Step::Data(""),
    Step::Data("llo"),
];

#[tokio::test(start_paused = true)]
async fn a_body_is_stored_at_its_clean_end_and_replayed_in_one_piece() {
    for hint in HINTS {
        let rig = Rig::new(&HELLO, hint);
        assert_eq!(
            rig.read(&[]).await,
            (Outcome::Miss, Bytes::from("hello")),
            "{hint:?}"
        );
        tokio::time::advance(Duration::from_millis(2_900)).await;

        let response = rig.send(request(&[])).await;
        assert_eq!(status(&response), "test; hit; detail=exact");
        assert_eq!(response.headers()[AGE], "2");
        assert_eq!(response.headers()[CONTENT_LENGTH], "5");
        assert_eq!(response.headers()[CONTENT_TYPE], "text/plain");
        let mut body = response.into_body();
        assert_eq!(
            (body.size_hint().exact(), body.is_end_stream()),
            (Some(5), false)
        );
        let frame = body.frame().await.expect("a frame").expect("no error");
        assert_eq!(frame.into_data().expect("data"), "hello");
        assert_eq!(
            (body.size_hint().exact(), body.is_end_stream()),
            (Some(0), true)
        );
        assert!(body.frame().await.is_none());
        assert_eq!(rig.calls(), 1);
    }
}

#[tokio::test]
async fn an_answer_is_stored_before_its_last_frame_is_handed_out() {
    for hint in [Hint::EndOfStream, Hint::Length] {
        let rig = Rig::new(&HELLO, hint);
        let mut body = rig.send(request(&[])).await.into_body();
        for _ in 0..2 {
            body.frame().await.expect("a frame").expect("no error");
            assert!(rig.cache.is_empty());
        }
        body.frame().await.expect("a frame").expect("no error");
        assert_eq!(rig.cache.len(), 1, "{hint:?}: a server polls no further");
        drop(body);
        assert_eq!(rig.cache.stats().stored, 1);
    }
}

#[tokio::test]
async fn an_exact_content_length_is_an_end_too() {
    let rig = Rig::new(&HELLO, Hint::None).header("content-length", "5");
    let mut body = rig.send(request(&[])).await.into_body();
    for _ in 0..3 {
        body.frame().await.expect("a frame").expect("no error");
    }
    drop(body);
    assert_eq!(rig.cache.len(), 1);
}

#[tokio::test]
async fn no_frame_waits_for_another() {
    let rig = Rig::new(&[Step::Data("a"), Step::Wait, Step::Data("b")], Hint::None);
    let mut body = rig.send(request(&[])).await.into_body();
    let mut poll = tokio_test::task::spawn(body.frame());
    let first = tokio_test::assert_ready!(poll.poll())
        .expect("a frame")
        .expect("no error");
    assert_eq!(first.into_data().expect("data"), "a");
    drop(poll);
    let mut poll = tokio_test::task::spawn(body.frame());
    tokio_test::assert_pending!(poll.poll());
    assert!(poll.is_woken());
}

#[tokio::test]
async fn a_body_that_is_cut_dropped_or_too_short_is_never_stored() {
    for hint in [Hint::None, Hint::EndOfStream] {
        let rig = Rig::new(&[Step::Data("he"), Step::Fail], hint);
        let error = rig
            .send(request(&[]))
            .await
            .into_body()
            .collect()
            .await
            .expect_err("cut");
        assert_eq!(error.to_string(), "cut");

        let dropped = Rig::new(&HELLO, hint);
        let mut body = dropped.send(request(&[])).await.into_body();
        body.frame().await.expect("a frame").expect("no error");
        drop(body);
        assert_eq!(rig.cache.stats().refused_unfinished, 1);
        assert_eq!(dropped.cache.stats().refused_unfinished, 1);

        for promise in ["6", "4"] {
            let rig = Rig::new(&HELLO, hint).header("content-length", promise);
            rig.read(&[]).await;
            assert_eq!(rig.cache.stats().refused_incomplete, 1, "{promise}");
            assert!(rig.cache.is_empty());
        }
    }
}

#[tokio::test]
async fn trailers_pass_and_their_answer_is_not_stored() {
    for hint in [Hint::None, Hint::EndOfStream] {
        let rig = Rig::new(&[Step::Data("a"), Step::Trailers], hint);
        let body = rig
            .send(request(&[]))
            .await
            .into_body()
            .collect()
            .await
            .expect("clean");
        let trailers = body.trailers().expect("trailers");
        assert_eq!(trailers.get_all("x-sum").iter().count(), 2);
        assert_eq!(rig.cache.stats().refused_forbidden, 1);
    }
}

#[tokio::test]
async fn an_empty_body_is_stored_without_being_polled() {
    for hint in [Hint::EndOfStream, Hint::Length] {
        let rig = Rig::new(&[], hint);
        drop(rig.send(request(&[])).await);
        let response = rig.send(request(&[])).await;
        assert_eq!(status(&response), "test; hit; detail=exact");
        assert!(response.body().is_end_stream());
        assert_eq!(rig.calls(), 1);
    }
}

#[tokio::test]
async fn the_answer_to_a_head_never_serves_a_get() {
    let head = || {
        let mut head = request(&[]);
        *head.method_mut() = Method::HEAD;
        head
    };
    for hint in HINTS {
        let mut rig = Rig::new(&[], hint);
        rig.send(head())
            .await
            .into_body()
            .collect()
            .await
            .expect("a clean end");
        assert!(rig.cache.is_empty(), "{hint:?}");
        let refused = rig.cache.stats();
        assert_eq!((refused.misses, refused.stored), (1, 0));

        rig.response = Rig::new(&HELLO, hint).response;
        let (outcome, body) = rig.read(&[]).await;
        assert_eq!((outcome, body), (Outcome::Miss, Bytes::from("hello")));
    }
}

#[tokio::test]
async fn a_head_is_served_from_the_answer_to_a_get_without_its_body() {
    let rig = Rig::new(&HELLO, Hint::None);
    rig.read(&[]).await;
    let mut head = request(&[]);
    *head.method_mut() = Method::HEAD;
    let response = rig.send(head).await;
    assert_eq!(status(&response), "test; hit; detail=exact");
    assert_eq!(response.headers()[CONTENT_LENGTH], "5");
    assert!(response.body().is_end_stream());
    let body = response.into_body().collect().await.expect("a clean end");
    assert!(body.to_bytes().is_empty());
    assert_eq!(rig.calls(), 1);
}

#[tokio::test]
async fn an_answer_over_the_bound_passes_whole_and_is_not_stored() {
    const KIB: &str = match std::str::from_utf8(&[b'x'; 1_024]) {
        Ok(text) => text,
        Err(_) => "",
    };
    let steps = vec![Step::Data(KIB); 5];
    for hint in HINTS {
        let rig = Rig::new(&steps, hint);
        let (outcome, body) = rig.read(&[]).await;
        assert_eq!((outcome, body.len()), (Outcome::Miss, 5 * 1_024));
        let stats = rig.cache.stats();
        assert_eq!(
            (stats.refused_too_large, stats.refused_unfinished),
            (1, 0),
            "{hint:?}"
        );
    }
}

#[tokio::test]
async fn only_complete_answers_are_stored() {
    for status in [
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::TOO_MANY_REQUESTS,
    ] {
        let mut rig = Rig::new(&HELLO, Hint::None);
        *rig.response.status_mut() = status;
        rig.read(&[]).await;
        rig.read(&[]).await;
        assert_eq!((rig.calls(), rig.cache.stats().refused_incomplete), (2, 2));
    }
    let mut rig = Rig::new(&HELLO, Hint::EndOfStream);
    rig.record = HttpRecord::new("test").complete(|answer: &Answer| answer.body() == "bye");
    rig.read(&[]).await;
    assert!(rig.cache.is_empty());
}

#[tokio::test]
async fn what_upstream_forbids_is_not_stored() {
    let forbidden = [
        ("cache-control", "no-store"),
        ("cache-control", "private"),
        ("vary", "accept-language"),
        ("vary", "*"),
        ("content-encoding", "br"),
    ];
    for (name, value) in forbidden {
        let rig = Rig::new(&HELLO, Hint::None).header(name, value);
        rig.read(&[]).await;
        rig.read(&[]).await;
        assert_eq!(
            (rig.calls(), rig.cache.stats().refused_forbidden),
            (2, 2),
            "{name}: {value}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn upstream_may_shorten_a_life() {
    let rig = Rig::new(&HELLO, Hint::None).header("cache-control", "max-age=5");
    rig.read(&[]).await;
    tokio::time::advance(Duration::from_secs(4)).await;
    assert!(is_hit(rig.read(&[]).await.0));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(rig.read(&[]).await.0, Outcome::Miss);
}

#[tokio::test]
async fn cookies_and_request_ids_reach_the_first_caller_only() {
    let rig = Rig::new(&HELLO, Hint::None)
        .header("set-cookie", "secret=1")
        .header("x-request-id", "77")
        .header("x-model", "m");
    let first = rig.send(request(&[])).await;
    assert_eq!(first.headers()["set-cookie"], "secret=1");
    assert_eq!(first.headers()["x-request-id"], "77");
    first.into_body().collect().await.expect("clean");
    let second = rig.send(request(&[])).await;
    for name in ["set-cookie", "x-request-id"] {
        assert!(!second.headers().contains_key(name), "{name}");
    }
    assert_eq!(second.headers()["x-model"], "m");
}

#[tokio::test]
async fn the_callers_cache_control_makes_reuse_stricter() {
    let rig = Rig::new(&HELLO, Hint::None);
    rig.read(&[("cache-control", "no-store")]).await;
    assert!(rig.cache.is_empty());

    let absent = rig
        .send(request(&[("cache-control", "only-if-cached")]))
        .await;
    assert_eq!(absent.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(
        (status(&absent), rig.calls()),
        ("test; detail=only-if-cached", 1)
    );
    assert_eq!(absent.extensions().get(), Some(&Outcome::NotCached));
    assert_eq!(rig.cache.stats().not_cached, 1);

    rig.read(&[]).await;
    assert!(is_hit(
        rig.read(&[("cache-control", "only-if-cached")]).await.0
    ));
    assert!(is_hit(rig.read(&[("cache-control", "no-store")]).await.0));
    assert_eq!(
        rig.read(&[("cache-control", "no-cache")]).await.0,
        Outcome::Miss
    );
    assert_eq!((rig.calls(), rig.cache.len()), (3, 1));
    assert_eq!(
        rig.cache.stats().stored,
        2,
        "the fresh one takes the place of the old one"
    );
}

#[tokio::test]
async fn a_bypass_passes_untouched_and_says_so() {
    let rig = Rig::new(&[Step::Data("a"), Step::Trailers], Hint::EndOfStream)
        .header("cache-status", "origin; hit");
    let response = rig.send(request(&[("x-bypass", "1")])).await;
    let all: Vec<_> = response.headers().get_all("cache-status").iter().collect();
    assert_eq!(all, ["origin; hit", "test; fwd=bypass"]);
    assert_eq!(response.extensions().get(), Some(&Outcome::Bypass));
    let body = response.into_body().collect().await.expect("clean");
    assert!(body.trailers().is_some());
    let stats = rig.cache.stats();
    assert_eq!((stats.bypassed, stats.misses, stats.entries), (1, 0, 0));
}

#[tokio::test]
async fn a_probe_says_nothing_about_what_it_passes_on() {
    let rig = Rig::new(&HELLO, Hint::None);
    let response = rig.response.clone();
    let inner = service_fn(move |_: Req| {
        let response = response.clone();
        async move { Ok::<_, Infallible>(response) }
    });
    let cached = CacheLayer::new(rig.cache.clone(), policy, rig.record.clone()).layer(inner);
    let mut probe = ProbeLayer::new(rig.cache.clone(), policy, rig.record.clone()).layer(cached);
    let miss = probe
        .ready()
        .await
        .expect("ready")
        .call(request(&[]))
        .await
        .expect("an answer");
    assert_eq!(miss.headers().get_all("cache-status").iter().count(), 1);
    miss.into_body().collect().await.expect("clean");
    let hit = probe
        .ready()
        .await
        .expect("ready")
        .call(request(&[]))
        .await
        .expect("an answer");
    assert_eq!(hit.headers()["cache-status"], "test; hit; detail=exact");
    assert!(is_hit(*hit.extensions().get().expect("an outcome")));
    let stats = rig.cache.stats();
    assert_eq!((stats.hits_exact, stats.misses), (1, 1));
}

#[tokio::test]
async fn an_answer_is_served_in_the_form_asked_for_or_counts_as_a_miss() {
    #[derive(Clone)]
    struct Upper;
    let mut rig = Rig::new(&HELLO, Hint::None);
    let name = HeaderName::from_static("x-form");
    rig.record =
        HttpRecord::new("test").transcode(move |stored: &Answer, asked: &Asked<'_>| {
            match (asked.extensions.get::<Upper>(), asked.headers.get(&name)) {
                (None, None) => Some(stored.clone()),
                (Some(Upper), None) => {
                    let (status, headers, body) = stored.clone().into_parts();
                    let body = body.to_ascii_uppercase();
                    Some(Answer::new(
                        status,
                        headers,
                        [&body[..], b"!"].concat().into(),
                    ))
                }
                _ => None,
            }
        });
    rig.read(&[]).await;
    let mut upper = request(&[]);
    upper.extensions_mut().insert(Upper);
    let response = rig.send(upper).await;
    assert_eq!(response.headers()[CONTENT_LENGTH], "6");
    let body = response
        .into_body()
        .collect()
        .await
        .expect("clean")
        .to_bytes();
    assert_eq!(body, "HELLO!");
    assert_eq!(rig.read(&[("x-form", "unknown")]).await.0, Outcome::Miss);
    assert_eq!(rig.calls(), 2);
}

#[tokio::test]
async fn an_answer_begun_before_a_purge_is_not_stored() {
    let rig = Rig::new(&HELLO, Hint::None);
    let response = rig.send(request(&[])).await;
    rig.cache.purge();
    response.into_body().collect().await.expect("clean");
    assert_eq!((rig.cache.len(), rig.cache.stats().refused_purged), (0, 1));
}

#[tokio::test]
async fn a_semantic_hit_says_how_similar_it_is() {
    let rig = Rig::new(&HELLO, Hint::None);
    let response = rig.response.clone();
    let inner = service_fn(move |_: Req| {
        let response = response.clone();
        async move { Ok::<_, Infallible>(response) }
    });
    let policy = |request: &Req| Some(common::similar("t", request.uri().path(), 0.9));
    let layer = CacheLayer::new(rig.cache.clone(), policy, rig.record.clone())
        .semantic(common::Prefix::default(), AcceptAll);
    let service = layer.layer(inner);
    let at = |path: &'static str| {
        let mut request = request(&[]);
        *request.uri_mut() = http::Uri::from_static(path);
        request
    };
    let first = service.clone().oneshot(at("/a")).await.expect("an answer");
    first.into_body().collect().await.expect("clean");
    let second = service.oneshot(at("/b")).await.expect("an answer");
    // The two share an axis of length 1 and differ in one of 0.2: 1 / 1.04.
    let expected = "test; hit; detail=\"semantic; sim=0.961\"";
    assert_eq!(second.headers()["cache-status"], expected);
    let Some(Outcome::Hit {
        detail: Detail::Semantic { similarity },
        ..
    }) = second.extensions().get()
    else {
        panic!("a semantic hit");
    };
    assert!((similarity.get() - 1.0 / 1.04).abs() < 1e-6);
}

#[tokio::test]
async fn whoever_leaves_early_gives_back_what_the_recording_held() {
    let rig = Rig::new(&HELLO, Hint::None).header("content-length", "5");
    let whole = rig.cache.max_entry_bytes();
    for _ in 0..2 * rig.cache.max_bytes() / whole {
        let mut other = rig.cache.begin(lookup("t", "other"));
        other.reserve(whole).expect("nothing else is held");
        drop(other);
    }
    drop(rig.send(request(&[])).await);
    let mut body = rig.send(request(&[])).await.into_body();
    body.frame().await.expect("a frame").expect("no error");
    drop(body);
    assert!(is_miss(rig.read(&[]).await.0));
    assert!(is_hit(rig.read(&[]).await.0));
}

#[tokio::test]
async fn a_response_passes_when_too_much_is_being_recorded() {
    let mut rig = Rig::new(&HELLO, Hint::None);
    rig.cache = Cache::builder().max_bytes(4_096).build().expect("valid");
    let mut other = rig.cache.begin(lookup("t", "other"));
    other.reserve(4_096).expect("nothing else is held");
    assert_eq!(rig.read(&[]).await, (Outcome::Miss, Bytes::from("hello")));
    assert_eq!((rig.cache.len(), rig.cache.stats().refused_busy), (0, 1));
    drop(other);
    rig.read(&[]).await;
    assert_eq!(rig.cache.len(), 1);
}

#[tokio::test]
async fn a_promised_length_without_a_body_is_not_stored() {
    // As in the answer to a HEAD request.
    let rig = Rig::new(&[], Hint::EndOfStream).header("content-length", "5");
    let response = rig.send(request(&[])).await;
    assert!(response.body().is_end_stream());
    assert_eq!(rig.cache.stats().refused_incomplete, 1);
}

#[tokio::test]
async fn size_hint_and_end_are_those_of_the_inner_body() {
    for hint in HINTS {
        let rig = Rig::new(&HELLO, hint);
        let mut body = rig.send(request(&[])).await.into_body();
        let exact = |rest| (hint == Hint::Length).then_some(rest);
        assert_eq!(
            (body.size_hint().exact(), body.is_end_stream()),
            (exact(5), false)
        );
        body.frame().await.expect("a frame").expect("no error");
        assert_eq!(body.size_hint().exact(), exact(3));
        while body.frame().await.is_some() {}
        assert_eq!(body.is_end_stream(), hint != Hint::None);
        assert!(body.frame().await.is_none());
        assert_eq!(rig.cache.stats().stored, 1);
    }
}

#[test]
fn services_futures_and_bodies_can_be_sent() {
    fn sendable<T: Send>(_: &T) {}
    let rig = Rig::new(&HELLO, Hint::None);
    let inner = service_fn(|_: Req| {
        std::future::ready(Ok::<_, Infallible>(Response::new(Mock::new(
            &[],
            Hint::None,
        ))))
    });
    let cached = CacheLayer::new(rig.cache.clone(), policy, rig.record.clone())
        .semantic(common::Prefix::default(), AcceptAll)
        .layer(inner);
    let mut probe = ProbeLayer::new(rig.cache.clone(), policy, rig.record.clone()).layer(cached);
    sendable(&probe);
    sendable(&probe.call(request(&[])));
    fn body<T: Send + Sync + Unpin + Default>() {}
    body::<Body<Mock>>();
}

#[test]
fn a_policy_may_be_a_type() {
    struct Typed;
    impl Policy<Req> for Typed {
        fn lookup(&self, request: &Req) -> Option<Lookup> {
            policy(request)
        }
    }
    assert!(Typed.lookup(&request(&[])).is_some());
    assert!(Typed.lookup(&request(&[("x-bypass", "1")])).is_none());
}

#[tokio::test]
async fn an_entry_keeps_nothing_alive_that_its_answer_was_read_into() {
    for promised in [true, false] {
        let source = Bytes::from([b"text/plainhello".as_slice(), &[b'.'; 8_192]].concat());
        let (kind, body) = (source.slice(..10), source.slice(10..15));
        let kind = HeaderValue::from_maybe_shared(kind).expect("a value");
        let frames = [Step::Slice(body.slice(..2)), Step::Slice(body.slice(2..))];
        drop(body);
        let mut response = Response::new(Mock::new(&frames, Hint::None));
        drop(frames);
        response.headers_mut().insert(CONTENT_TYPE, kind);
        if promised {
            response
                .headers_mut()
                .insert(CONTENT_LENGTH, HeaderValue::from_static("5"));
        }
        let inner = service_fn(move |_: Req| {
            let response = response.clone();
            async move { Ok::<_, Infallible>(response) }
        });
        let rig = Rig::new(&HELLO, Hint::None);
        let service = CacheLayer::new(rig.cache.clone(), policy, rig.record.clone()).layer(inner);
        let response = service.oneshot(request(&[])).await.expect("an answer");
        assert_eq!(
            response
                .into_body()
                .collect()
                .await
                .expect("clean")
                .to_bytes(),
            "hello"
        );
        assert!(source.is_unique(), "promised: {promised}");
        let hit = rig.cache.get(&lookup("t", "/")).expect("a hit");
        assert_eq!(hit.value().headers()[CONTENT_TYPE], "text/plain");
        assert_eq!(hit.value().body(), "hello");
    }
}

#[test]
fn an_answer_keeps_nothing_alive_that_it_was_made_of() {
    let source = Bytes::from([b"text/plainhello".as_slice(), &[b'.'; 8_192]].concat());
    let mut headers = HeaderMap::new();
    let kind = HeaderValue::from_maybe_shared(source.slice(..10)).expect("a value");
    headers.insert(CONTENT_TYPE, kind);
    let answer = Answer::new(StatusCode::OK, headers, source.slice(10..15));
    assert!(source.is_unique());
    assert_eq!(answer.headers()[CONTENT_TYPE], "text/plain");
    assert_eq!(answer.headers()[CONTENT_LENGTH], "5");
    assert_eq!(answer.body(), "hello");
}
