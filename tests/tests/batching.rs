//! Several callers' requests in one call of the server, and each one's own answer back.

use llm_backend::stub::Settings;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tests::{
    Answer, Close, Connection, Gateway, Message, Peer, Request, Upstream, answer_all, with,
};
use tokio::task::JoinSet;

const COMPLETIONS: &str = "/v1/completions";
const EMBEDDINGS: &str = "/v1/embeddings";
const GENERATE: &str = "/v1/generate";

/// Merges what comes within `window`.
fn fixed(config: &mut llm_front::config::Config, window: &str) {
    config.batch_window_mode = "fixed".parse().expect("a mode");
    config.batch_window = window.parse().expect("a span");
    config.merge = "on".parse().expect("a switch");
}

async fn gateway() -> Gateway {
    Gateway::before_stub(|config| fixed(config, "250ms")).await
}

/// The answers, in the order of the requests.
async fn at_once(gateway: &Gateway, requests: impl IntoIterator<Item = Request>) -> Vec<Answer> {
    let tasks: Vec<_> = requests
        .into_iter()
        .map(|request| {
            let address = gateway.address;
            tokio::spawn(async move { request.send(address).await })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("no panic"));
    }
    answers
}

fn batches(gateway: &Gateway) -> Vec<(usize, u64)> {
    gateway.stub().stats().batches.into_iter().collect()
}

#[tokio::test]
async fn eight_callers_of_generate_are_one_call_and_each_gets_its_own_text() {
    let gateway = gateway().await;
    let prompts: Vec<String> = (0..8).map(|n| format!("prompt {n}")).collect();
    let answers = at_once(
        &gateway,
        prompts
            .iter()
            .map(|prompt| Request::post(GENERATE, &json!({ "prompt": prompt }))),
    )
    .await;
    assert_eq!(batches(&gateway), [(8, 1)]);
    let truth = json!({ "model": "stub", "prompt": prompts, "max_tokens": 64, "temperature": 0 });
    let truth = gateway.backend().post(COMPLETIONS, &truth).await.json();
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(answer.source(), "fwd=miss");
        assert_eq!(
            answer.json()["text"],
            truth["choices"][n]["text"],
            "prompt {n}"
        );
    }
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.value("llm_front_batches_total{items=\"8\"}"), 1.0);
    // Kept one by one.
    let again = gateway
        .post(GENERATE, &json!({ "prompt": "prompt 3" }))
        .await;
    assert_eq!(again.source(), "hit; detail=exact");
    assert_eq!(again.body(), answers[3].body());
}

#[tokio::test]
async fn the_ninth_goes_with_the_next_batch() {
    let gateway = gateway().await;
    at_once(
        &gateway,
        (0..9).map(|n| Request::post(GENERATE, &json!({ "prompt": format!("{n}") }))),
    )
    .await;
    assert_eq!(batches(&gateway), [(1, 1), (8, 1)]);
}

#[tokio::test]
async fn only_requests_equal_in_everything_but_the_input_go_together() {
    let gateway = gateway().await;
    let ask = |prompt: &str, more: Value| {
        Request::post(GENERATE, &with(json!({ "prompt": prompt }), more))
    };
    at_once(
        &gateway,
        [
            ask("a", json!({})),
            ask("b", json!({})),
            ask("c", json!({ "max_tokens": 9 })),
            ask("d", json!({ "seed": 1 })),
            ask("e", json!({ "model": "other" })),
            ask("f", json!({})).header("authorization", "Bearer x"),
            ask("g", json!({})).header("x-custom", "1"),
            ask("h", json!({})).header("user-agent", "does not matter"),
        ],
    )
    .await;
    assert_eq!(batches(&gateway), [(1, 5), (3, 1)]);
}

#[tokio::test]
async fn requests_with_different_queries_never_go_together_and_the_query_goes_along() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| fixed(config, "250ms")).await;
    let calls = calls_of(upstream, |_, prompts| {
        let choice =
            |(index, prompt)| json!({ "index": index, "text": prompt, "finish_reason": "stop" });
        let choices: Vec<Value> = prompts.iter().enumerate().map(choice).collect();
        ("200 OK", json!({ "model": "m", "choices": choices }))
    });
    let ask = |query: &str, prompt: &str| {
        Request::post(
            &format!("{GENERATE}{query}"),
            &json!({ "prompt": prompt, "stream": false }),
        )
    };
    let answers = at_once(
        &gateway,
        [
            ask("?version=1", "a"),
            ask("?version=2", "a"),
            ask("?version=1", "b"),
            ask("", "a"),
        ],
    )
    .await;
    for (answer, text) in answers.iter().zip(["a", "a", "b", "a"]) {
        assert_eq!(
            (answer.status, answer.json()["text"].clone()),
            (200, json!(text))
        );
    }
    let mut seen = calls.lock().clone();
    seen.sort();
    let call = |query: &str, prompts: &[&str]| {
        let prompts = prompts.iter().map(ToString::to_string).collect();
        (format!("POST {COMPLETIONS}{query} HTTP/1.1"), prompts)
    };
    let merged = match seen[1].1[0].as_str() {
        "a" => ["a", "b"],
        _ => ["b", "a"],
    };
    assert_eq!(
        seen,
        [
            call("", &["a"]),
            call("?version=1", &merged),
            call("?version=2", &["a"])
        ]
    );
}

/// The calls of an upstream: the request's first line, and the prompts.
type Calls = Arc<parking_lot::Mutex<Vec<(String, Vec<String>)>>>;

/// Answers each call with what `answer` makes of its number and its prompts, and notes it.
fn calls_of(
    upstream: Upstream,
    answer: impl Fn(usize, &[String]) -> (&'static str, Value) + Clone + Send + Sync + 'static,
) -> Calls {
    let calls = Calls::default();
    let log = calls.clone();
    answer_all(upstream, move |message: Message| {
        let (log, answer) = (log.clone(), answer.clone());
        async move {
            let line = message.head.lines().next().unwrap_or_default().to_owned();
            let prompts = prompts_of(&message);
            let number = {
                let mut log = log.lock();
                log.push((line, prompts.clone()));
                log.len()
            };
            let (status, body) = answer(number, &prompts);
            Some((whole(status, &body), Close::Keep))
        }
    });
    calls
}

fn prompts_of(call: &Message) -> Vec<String> {
    let text = |prompt: &Value| prompt.as_str().expect("text").to_owned();
    match &call.json()["prompt"] {
        Value::Array(prompts) => prompts.iter().map(text).collect(),
        prompt => vec![text(prompt)],
    }
}

fn whole(status: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into()
}

#[tokio::test]
async fn a_refusal_that_is_no_single_callers_fault_is_everybodys_and_is_not_asked_for_again() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| fixed(config, "250ms")).await;
    const REFUSALS: [&str; 3] = ["401 Unauthorized", "404 Not Found", "429 Too Many Requests"];
    let calls = calls_of(upstream, |number, _| {
        let error = json!({ "error": { "message": format!("refusal {number}") } });
        (REFUSALS[number - 1], error)
    });
    for (index, status) in [401, 404, 429].into_iter().enumerate() {
        let ask = |n: u32| json!({ "prompt": format!("{status} {n}") });
        let answers = at_once(&gateway, (0..4).map(|n| Request::post(GENERATE, &ask(n)))).await;
        for answer in answers {
            assert_eq!(answer.status, status);
            let message = format!("refusal {}", index + 1);
            assert_eq!(answer.json()["error"]["message"], message);
        }
        let calls = calls.lock();
        assert_eq!(calls.len(), index + 1, "{status}: {calls:?}");
        assert_eq!(calls[index].1.len(), 4, "{status}: {calls:?}");
    }
    gateway.quiet().await;
}

async fn in_flight(gateway: &Gateway, count: f64) {
    while gateway
        .metrics()
        .await
        .value("llm_front_requests_in_flight")
        != count
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Callers of one batch, one a prompt, and the upstream's side of their joined call.
async fn joined<const N: usize>(
    gateway: &Gateway,
    upstream: &mut Upstream,
    prompts: [&str; N],
) -> ([Connection; N], Peer) {
    let mut callers = Vec::new();
    for prompt in prompts {
        let mut caller = gateway.connect().await;
        let ask = json!({ "prompt": prompt });
        caller.ask(&Request::post(GENERATE, &ask)).await;
        callers.push(caller);
    }
    let mut peer = upstream.accept().await;
    let mut joined = prompts_of(&peer.request().await.expect("the call"));
    joined.sort_unstable();
    assert_eq!(joined, prompts);
    (callers.try_into().expect("as many as prompts"), peer)
}

const REFUSED: &str =
    "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";

#[tokio::test]
async fn who_has_left_a_refused_batch_is_not_sent_again() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| fixed(config, "100ms")).await;
    let ([gone, stays, stays_too], mut peer) =
        joined(&gateway, &mut upstream, ["a", "b", "c"]).await;
    drop(gone);
    in_flight(&gateway, 2.0).await;
    peer.say(REFUSED).await;
    let mut again = Vec::new();
    for _ in 0..2 {
        let mut peer = upstream.accept().await;
        let text = prompts_of(&peer.request().await.expect("a call")).join(", ");
        let choice = json!({ "index": 0, "text": text, "finish_reason": "stop" });
        let body = json!({ "model": "m", "choices": [choice] });
        assert!(peer.try_say(&whole("200 OK", &body)).await);
        again.push(text);
    }
    again.sort();
    assert_eq!(again, ["b", "c"]);
    for (mut caller, text) in [(stays, "b"), (stays_too, "c")] {
        let answer = caller.answer().await;
        assert_eq!(
            (answer.status, answer.json()["text"].clone()),
            (200, json!(text))
        );
    }
    gateway.quiet().await;
    assert_eq!(upstream.connections(), 3);
}

#[tokio::test]
async fn who_leaves_while_a_refused_batch_is_sent_again_frees_its_own_call_and_no_other() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| fixed(config, "100ms")).await;
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let ([leaves, mut stays], mut peer) = joined(&gateway, &mut upstream, ["a", "b"]).await;
        peer.say(REFUSED).await;
        let mut peers = Vec::new();
        for _ in 0..2 {
            let mut peer = upstream.accept().await;
            let prompts = prompts_of(&peer.request().await.expect("a call"));
            peers.push((prompts.join(", "), peer));
        }
        peers.sort_by(|(one, _), (other, _)| one.cmp(other));
        let [(one, mut of_a), (other, mut of_b)]: [_; 2] = peers.try_into().expect("two");
        assert_eq!((&*one, &*other), ("a", "b"));
        assert!(of_a.stays(Duration::from_millis(10)).await);
        drop(leaves);
        best = best.min(of_a.gone().await);
        assert!(of_b.stays(Duration::from_millis(20)).await);
        // A refusal, so that the next round asks again.
        of_b.say(REFUSED).await;
        assert_eq!(stays.answer().await.status, 400);
        gateway.quiet().await;
    }
    assert!(best <= Duration::from_millis(50), "{best:?}");
}

#[tokio::test]
async fn completions_and_embeddings_are_merged_when_asked_for() {
    let gateway = gateway().await;
    for (path, field, list) in [
        (COMPLETIONS, "prompt", "choices"),
        (EMBEDDINGS, "input", "data"),
    ] {
        gateway.stub().reset();
        let ask = |input: Value| {
            with(
                json!({ "model": "stub", "temperature": 0 }),
                json!({ field: input }),
            )
        };
        let inputs = [json!("one"), json!(["two", "three"]), json!("four")];
        let answers = at_once(
            &gateway,
            inputs
                .iter()
                .map(|input| Request::post(path, &ask(input.clone()))),
        )
        .await;
        assert_eq!(batches(&gateway), [(4, 1)], "{path}");
        for (answer, input) in answers.iter().zip(&inputs) {
            let truth = gateway
                .backend()
                .post(path, &ask(input.clone()))
                .await
                .json();
            assert_eq!(answer.json()[list], truth[list], "{path} {input}");
            assert!(answer.json().get("usage").is_none(), "it cannot be known");
        }
    }
}

#[tokio::test]
async fn without_being_asked_for_completions_and_embeddings_are_not_merged() {
    let gateway = Gateway::before_stub(|config| {
        fixed(config, "250ms");
        config.merge = "off".parse().expect("a switch");
    })
    .await;
    let ask = |n: u32| {
        Request::post(
            EMBEDDINGS,
            &json!({ "model": "stub", "input": format!("{n}") }),
        )
    };
    let answers = at_once(&gateway, (0..4).map(ask)).await;
    assert_eq!(batches(&gateway), [(1, 4)]);
    assert!(
        answers
            .iter()
            .all(|answer| answer.json()["usage"]["total_tokens"] == 1)
    );
}

#[tokio::test]
async fn one_bad_item_fails_alone() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| fixed(config, "250ms")).await;
    answer_all(upstream, |message: Message| async move {
        let ask = message.json();
        let prompts = match &ask["prompt"] {
            Value::Array(prompts) => prompts.clone(),
            prompt => vec![prompt.clone()],
        };
        let bad = prompts.iter().any(|prompt| prompt == "bad");
        let choice = |(index, prompt): (usize, &Value)| json!({ "index": index, "text": prompt, "finish_reason": "stop" });
        let choices: Vec<Value> = prompts.iter().enumerate().map(choice).collect();
        let (status, body) = match bad {
            true => (
                "400 Bad Request",
                json!({ "error": { "message": "a bad prompt", "type": "invalid_request_error" } }),
            ),
            false => ("200 OK", json!({ "model": "m", "choices": choices })),
        };
        let body = body.to_string();
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Some((answer.into(), Close::Keep))
    });
    let prompts = ["a", "bad", "c", "d"];
    let answers = at_once(
        &gateway,
        prompts
            .iter()
            .map(|prompt| Request::post(GENERATE, &json!({ "prompt": prompt }))),
    )
    .await;
    for (answer, prompt) in answers.iter().zip(prompts) {
        match prompt {
            "bad" => assert_eq!(
                (answer.status, answer.json()["error"]["message"].clone()),
                (400, json!("a bad prompt"))
            ),
            _ => assert_eq!(
                (answer.status, answer.json()["text"].clone()),
                (200, json!(prompt))
            ),
        }
    }
}

#[tokio::test]
async fn an_answer_that_does_not_add_up_is_nobodys() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| fixed(config, "250ms")).await;
    answer_all(upstream, |_| async {
        let choice = |index: u32| json!({ "index": index, "text": "x", "finish_reason": "stop" });
        let body =
            json!({ "model": "m", "choices": [choice(0), choice(1), choice(1)] }).to_string();
        Some((format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into(), Close::Keep))
    });
    let answers = at_once(
        &gateway,
        (0..3).map(|n| Request::post(GENERATE, &json!({ "prompt": format!("{n}") }))),
    )
    .await;
    assert!(
        answers.iter().all(|answer| answer.status == 502),
        "{answers:?}"
    );
    gateway.quiet().await;
    assert_eq!(
        gateway.metrics().await.value("llm_front_cache_entries"),
        0.0
    );
}

#[tokio::test]
async fn who_leaves_before_the_batch_goes_is_left_out_and_who_leaves_later_stops_nobody() {
    let settings = Settings::instant().per_call(Duration::from_millis(300));
    let gateway =
        Arc::new(Gateway::before_stub_of(settings, |config| fixed(config, "300ms")).await);
    let mut tasks = JoinSet::new();
    for n in 0..6_u64 {
        let gateway = gateway.clone();
        tasks.spawn(async move {
            let ask = Request::post(GENERATE, &json!({ "prompt": format!("{n}") }));
            let patience = match n {
                0 => 100,
                1 => 450,
                _ => 20_000,
            };
            tokio::time::timeout(Duration::from_millis(patience), gateway.send(&ask))
                .await
                .is_ok_and(|answer| answer.status == 200)
        });
    }
    let answered = tasks
        .join_all()
        .await
        .into_iter()
        .filter(|answered| *answered)
        .count();
    assert_eq!(answered, 4);
    assert_eq!(batches(&gateway), [(5, 1)]);
    gateway.quiet().await;
}

#[tokio::test]
async fn when_all_have_left_the_call_is_given_up() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| fixed(config, "100ms")).await;
    let mut callers = Vec::new();
    for n in 0..3 {
        let mut connection = gateway.connect().await;
        connection
            .ask(&Request::post(
                GENERATE,
                &json!({ "prompt": format!("{n}") }),
            ))
            .await;
        callers.push(connection);
    }
    let mut peer = upstream.accept().await;
    let asked = peer.request().await.expect("the call").json();
    assert_eq!(asked["prompt"], json!(["0", "1", "2"]));
    callers.truncate(1);
    assert!(peer.stays(Duration::from_millis(50)).await);
    callers.clear();
    let after = peer.gone().await;
    assert!(after < Duration::from_secs(1), "{after:?}");
    gateway.quiet().await;
}

#[tokio::test]
async fn an_idle_backend_is_never_kept_waiting() {
    let gateway =
        Gateway::before_stub(|config| config.batch_window = "10s".parse().expect("a span")).await;
    let answer = gateway.post(GENERATE, &json!({ "prompt": "alone" })).await;
    assert!(
        answer.ended_after < Duration::from_secs(2),
        "{:?}",
        answer.ended_after
    );
}
