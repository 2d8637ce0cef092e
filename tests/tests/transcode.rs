//! One answer in two forms.

use llm_backend::stub::Settings;
use serde_json::{Value, json};
use std::time::Duration;
use tests::{Answer, End, Gateway, Request, chat, stream, with};

const CHAT: &str = "/v1/chat/completions";

fn usage(ask: Value) -> Value {
    with(ask, json!({ "stream_options": { "include_usage": true } }))
}

/// The text of a stream's deltas.
fn content(answer: &Answer) -> String {
    chunks(answer)
        .iter()
        .filter_map(|chunk| {
            chunk["choices"][0]["delta"]["content"]
                .as_str()
                .map(str::to_owned)
        })
        .collect()
}

fn chunks(answer: &Answer) -> Vec<Value> {
    let events = answer.events();
    let (done, chunks) = events.split_last().expect("events");
    assert_eq!(done, "[DONE]");
    chunks
        .iter()
        .map(|chunk| serde_json::from_str(chunk).expect("JSON"))
        .collect()
}

#[tokio::test]
async fn a_stored_stream_serves_a_body_equal_to_the_servers_own() {
    let gateway = Gateway::before_stub(|_| {}).await;
    gateway.chat(&usage(stream(chat("Hello")))).await;
    let body = gateway.chat(&chat("Hello")).await;
    assert_eq!(body.source(), "hit; detail=exact");
    assert_eq!(body.header("content-type"), "application/json");
    let truth = gateway.backend().post(CHAT, &chat("Hello")).await;
    assert_eq!(body.json(), truth.json());
    assert_eq!(
        gateway.stub().stats().generations,
        2,
        "the stream, and the direct one"
    );
}

#[tokio::test]
async fn a_stored_stream_without_usage_serves_no_body_and_nobody_who_asks_for_usage() {
    let gateway = Gateway::before_stub(|_| {}).await;
    gateway.chat(&stream(chat("Hello"))).await;
    assert_eq!(
        gateway.chat(&stream(chat("Hello"))).await.source(),
        "hit; detail=exact"
    );
    assert_eq!(
        gateway.chat(&usage(stream(chat("Hello")))).await.source(),
        "fwd=miss"
    );
    // That one told the usage, and took the place of the one that did not.
    let plain = gateway.chat(&stream(chat("Hello"))).await;
    assert_eq!(plain.source(), "hit; detail=exact");
    assert!(!plain.text().contains("\"usage\":{"), "only if asked for");
    assert_eq!(
        gateway.chat(&chat("Hello")).await.source(),
        "hit; detail=exact"
    );
}

#[tokio::test]
async fn a_stored_body_serves_a_stream_with_usage_only_if_asked_for() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let body = gateway.chat(&chat("Hello")).await.json();
    for (ask, told) in [
        (stream(chat("Hello")), false),
        (usage(stream(chat("Hello"))), true),
    ] {
        let answer = gateway.chat(&ask).await;
        assert_eq!(
            (answer.source(), answer.end),
            ("hit; detail=exact", End::Clean)
        );
        assert_eq!(answer.header("content-type"), "text/event-stream");
        let chunks = chunks(&answer);
        assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
        assert_eq!(
            json!(content(&answer)),
            body["choices"][0]["message"]["content"]
        );
        let reasons: Vec<&str> = chunks
            .iter()
            .filter_map(|chunk| chunk["choices"][0]["finish_reason"].as_str())
            .collect();
        assert_eq!(reasons, ["stop"]);
        for field in ["id", "created", "model"] {
            assert!(
                chunks.iter().all(|chunk| chunk[field] == body[field]),
                "{field}"
            );
        }
        assert!(
            chunks
                .iter()
                .all(|chunk| chunk["object"] == "chat.completion.chunk")
        );
        let usages: Vec<&Value> = chunks
            .iter()
            .map(|chunk| &chunk["usage"])
            .filter(|usage| usage.is_object())
            .collect();
        match told {
            true => assert_eq!(usages, [&body["usage"]]),
            false => assert!(usages.is_empty(), "{usages:?}"),
        }
    }
    assert_eq!(gateway.stub().stats().generations, 1);
}

async fn always_streaming(settings: Settings) -> Gateway {
    Gateway::before_stub_of(settings, |config| {
        config.upstream_form = "stream".parse().expect("a form");
    })
    .await
}

#[tokio::test]
async fn where_upstream_is_asked_for_streams_a_body_equals_the_servers_own() {
    let gateway = always_streaming(Settings::instant()).await;
    for (path, ask) in [
        (CHAT, chat("Hello")),
        (CHAT, with(chat("Hello"), json!({ "n": 3 }))),
        (CHAT, with(chat("Hello"), json!({ "max_tokens": 2 }))),
        (
            "/v1/completions",
            json!({ "model": "stub", "prompt": ["a", "b"], "temperature": 0 }),
        ),
    ] {
        let answer = gateway.post(path, &ask).await;
        let truth = gateway.backend().post(path, &ask).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, "application/json")
        );
        assert_eq!(answer.json(), truth.json(), "{path} {ask}");
    }
    let refused = gateway
        .chat(&tests::model("stub?status=429&retry_after=2", "x"))
        .await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "2"));
    let cut = gateway.chat(&tests::model("stub?cut=3", "x")).await;
    assert_eq!(cut.status, 502, "{}", cut.text());
}

#[tokio::test]
async fn where_upstream_is_asked_for_streams_both_forms_share_one_flight() {
    let settings = Settings::default()
        .per_call(Duration::from_millis(300))
        .pace(Duration::from_millis(5));
    let gateway = always_streaming(settings).await;
    let asks = [
        chat("Hello"),
        stream(chat("Hello")),
        usage(stream(chat("Hello"))),
    ];
    let tasks = asks.map(|ask| {
        let address = gateway.address;
        tokio::spawn(async move { Request::chat(&ask).send(address).await })
    });
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.expect("no panic"));
    }
    assert_eq!(gateway.stub().stats().generations, 1);
    let truth = gateway.backend().post(CHAT, &chat("Hello")).await.json();
    assert_eq!(answers[0].json(), truth);
    for (answer, told) in [(&answers[1], false), (&answers[2], true)] {
        assert_eq!(answer.end, End::Clean);
        assert_eq!(
            json!(content(answer)),
            truth["choices"][0]["message"]["content"]
        );
        assert_eq!(answer.text().contains("\"usage\":{"), told);
    }
    gateway.quiet().await;
    for ask in [chat("Hello"), stream(chat("Hello"))] {
        assert_eq!(gateway.chat(&ask).await.source(), "hit; detail=exact");
    }
}
