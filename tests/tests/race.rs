//! Why coalescing stands outside the cache: in the other order, a request that comes between "flight over" and "answer stored"
//! generates again.

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use llm_front::config::Config;
use llm_front::stack;
use parking_lot::Mutex;
use serde_json::json;
use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;
use std::task::Poll;
use tests::{Dice, model, stream, with};
use tokio::task::yield_now;
use tokio_test::{assert_pending, task};
use tower::{BoxError, Layer, Service, ServiceExt};
use tower_coalesce::CoalesceLayer;
use tower_semcache::{Cache, CacheLayer, Cloned, Lookup, Secret};

const ROUNDS: u32 = 10_000;

/// Counts what it generates, and lets others run `steps` times before it answers.
#[derive(Clone, Debug, Default)]
struct Counting {
    steps: u32,
    generated: Arc<Mutex<HashMap<u32, u32>>>,
}

impl Counting {
    fn service(
        &self,
    ) -> impl Service<u32, Response = u32, Error = Infallible, Future: Send> + Clone + Send + use<>
    {
        let Self { steps, generated } = self.clone();
        tower::service_fn(move |request: u32| {
            *generated.lock().entry(request).or_default() += 1;
            async move {
                for _ in 0..steps {
                    yield_now().await;
                }
                Ok(request * 10)
            }
        })
    }

    fn of(&self, request: u32) -> u32 {
        self.generated.lock().get(&request).copied().unwrap_or(0)
    }
}

#[expect(
    clippy::unnecessary_wraps,
    clippy::trivially_copy_pass_by_ref,
    reason = "a policy"
)]
fn lookup(request: &u32) -> Option<Lookup> {
    const SECRET: Secret = Secret::from_bytes([7; 32]);
    let canonical = Bytes::copy_from_slice(&request.to_le_bytes());
    Some(Lookup::new(&SECRET, SECRET.scope(&[]), canonical))
}

type Policy<T> = fn(&u32) -> Option<T>;

fn cache() -> CacheLayer<Policy<Lookup>, Cloned, u32> {
    CacheLayer::new(Cache::builder().build().expect("defaults"), lookup, Cloned)
}

fn coalesce() -> CoalesceLayer<Policy<u32>> {
    CoalesceLayer::new(|request| Some(*request))
}

async fn settle() {
    for _ in 0..16 {
        yield_now().await;
    }
}

#[tokio::test]
async fn cache_outside_of_coalescing_generates_twice() {
    let counting = Counting::default();
    let mut service = cache().layer(coalesce().layer(counting.service()));
    let mut first = task::spawn(service.call(1));
    assert_pending!(first.poll());
    // The flight is over and its key free; its caller has been woken and has not run yet, so nothing is stored.
    settle().await;
    assert!(first.is_woken());
    let second = service.call(1);
    assert_eq!(
        (
            first.await.expect("an answer"),
            second.await.expect("an answer")
        ),
        (10, 10)
    );
    assert_eq!(counting.of(1), 2, "the race");
}

#[tokio::test]
async fn coalescing_outside_of_the_cache_generates_once_at_the_same_moment() {
    let counting = Counting::default();
    let mut service = coalesce().layer(cache().layer(counting.service()));
    let mut first = task::spawn(service.call(1));
    assert_pending!(first.poll());
    settle().await;
    assert!(first.is_woken());
    let second = service.call(1);
    assert_eq!(
        (
            first.await.expect("an answer"),
            second.await.expect("an answer")
        ),
        (10, 10)
    );
    assert_eq!(counting.of(1), 1);
}

/// Lets a second request come at a moment of chance in the life of the first, `ROUNDS` times; how often both generated.
async fn rounds<S>(service: S, counting: &Counting, seed: u64) -> u32
where
    S: Service<u32, Response = u32, Error = BoxError> + Clone,
{
    let mut dice = Dice::new(seed);
    let mut twice = 0;
    for request in 0..ROUNDS {
        let mut first = task::spawn(service.clone().oneshot(request));
        let mut answer = None;
        // The second comes after so many turns of the flight; in between the first caller runs, or is slow to.
        for _ in 0..dice.below(8) {
            if answer.is_none()
                && dice.once_in(3)
                && let Poll::Ready(ready) = first.poll()
            {
                answer = Some(ready);
            }
            if dice.once_in(2) {
                yield_now().await;
            }
        }
        let second = service.clone().oneshot(request).await;
        let first = match answer {
            Some(answer) => answer,
            None => first.await,
        };
        assert_eq!(
            (first.expect("an answer"), second.expect("an answer")),
            (request * 10, request * 10)
        );
        twice += u32::from(counting.of(request) > 1);
    }
    twice
}

#[tokio::test]
async fn at_every_moment_of_a_flight_the_order_decides() {
    let seed = 20_260_101;
    for steps in [0, 2] {
        let counting = Counting {
            steps,
            ..Counting::default()
        };
        let service = coalesce().layer(cache().layer(counting.service()));
        assert_eq!(
            rounds(service, &counting, seed).await,
            0,
            "of {ROUNDS}, seed {seed}"
        );

        let counting = Counting {
            steps,
            ..Counting::default()
        };
        let service = cache().layer(coalesce().layer(counting.service()));
        assert!(
            rounds(service, &counting, seed).await > 0,
            "the other order races, seed {seed}"
        );
    }
}

type Gateway = stack::Gateway<Full<Bytes>>;

fn gateway() -> Gateway {
    stack::build(&Config::default()).expect("a gateway")
}

/// One request of its own kind: plain or streamed, with or without a fault in the framing.
fn request(round: u32, kind: u64) -> Request<Full<Bytes>> {
    let question = format!("question {round}");
    let body = match kind {
        0 => model("stub?delay=0ms", &question),
        1 => stream(model("stub?delay=0ms&pace=0ms&tokens=3", &question)),
        2 => with(
            stream(model(
                "stub?delay=0ms&pace=0ms&tokens=2&split=40&done=0",
                &question,
            )),
            json!({ "stream_options": { "include_usage": true } }),
        ),
        _ => model("stub?delay=0ms&tokens=1", &question),
    };
    Request::builder()
        .method(Method::POST)
        .uri("/v1/chat/completions")
        .body(Full::new(Bytes::from(body.to_string())))
        .expect("a request")
}

/// Where an answer came from, and the answer.
async fn read<B>(answer: impl Future<Output = Result<Response<B>, Infallible>>) -> (String, Bytes)
where
    B: Body<Data = Bytes, Error: Debug>,
{
    let Ok(answer) = answer.await;
    assert_eq!(answer.status(), 200);
    let source = answer.headers()["cache-status"].to_str().expect("text");
    let source = source.to_owned();
    let body = answer.into_body().collect().await.expect("a clean end");
    (source, body.to_bytes())
}

/// All got the same, and only one of them had it generated.
fn one_generation(answers: &[(String, Bytes)], told: &str) {
    let generated = answers
        .iter()
        .filter(|(source, _)| source == "llm-front; fwd=miss");
    assert_eq!(generated.count(), 1, "{told}: {answers:?}");
    assert!(
        answers.iter().all(|(_, body)| *body == answers[0].1),
        "{told}: {answers:?}"
    );
}

fn generations(gateway: &Gateway) -> usize {
    let metrics = gateway.metrics.render();
    let series = "llm_front_requests_total{route=\"chat\",source=\"generation\",code=\"200\"} ";
    let value = metrics.lines().find_map(|line| line.strip_prefix(series));
    value.expect("it is counted").parse().expect("a number")
}

#[tokio::test(start_paused = true)]
async fn in_the_gateway_ten_thousand_of_ten_thousand_generate_once() {
    let gateway = gateway();
    let mut dice = Dice::new(7);
    for round in 0..ROUNDS {
        let kind = dice.below(4);
        let mut first = task::spawn(read(gateway.service.clone().oneshot(request(round, kind))));
        let mut answer = None;
        for _ in 0..dice.below(12) {
            if answer.is_none()
                && dice.once_in(3)
                && let Poll::Ready(ready) = first.poll()
            {
                answer = Some(ready);
            }
            if !dice.once_in(3) {
                yield_now().await;
            }
        }
        let (second, first) = tokio::join!(
            read(gateway.service.clone().oneshot(request(round, kind))),
            async {
                match answer {
                    Some(answer) => answer,
                    None => first.await,
                }
            }
        );
        one_generation(&[first, second], &format!("round {round}, kind {kind}"));
    }
    assert_eq!(generations(&gateway), ROUNDS as usize);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_the_gateway_on_two_threads_each_question_generates_once() {
    let gateway = gateway();
    for round in 0..1_000 {
        let kind = u64::from(round % 4);
        let callers: Vec<_> = (0..3)
            .map(|_| tokio::spawn(read(gateway.service.clone().oneshot(request(round, kind)))))
            .collect();
        let mut answers = Vec::new();
        for caller in callers {
            answers.push(caller.await.expect("no panic"));
        }
        one_generation(&answers, &format!("round {round}, kind {kind}"));
    }
    assert_eq!(generations(&gateway), 1_000);
}
