//! Several callers' requests in one call of the server, and each one's own answer back.

use llm_backend::stub::Settings;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tests::{Answer, Close, Gateway, Message, Request, Upstream, answer_all, with};
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
