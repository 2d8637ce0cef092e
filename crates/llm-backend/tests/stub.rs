//! The stub: as a service in paused time, and as a server.
#![cfg(all(feature = "client", feature = "stub"))]
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "test code")]

mod harness;

use std::time::Duration;

use bytes::Bytes;
use harness::{get, stub_server, within};
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use llm_backend::RequestBody;
use llm_backend::error::{Error, Kind};
use llm_backend::stub::{self, Body, Settings, Stub};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt;

fn ask(path: &str, body: &Value) -> Request<RequestBody> {
    Request::post(path)
        .body(RequestBody::from(body.to_string()))
        .unwrap()
}

fn chat(model: &str, text: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": text }] })
}

fn streamed(model: &str, text: &str) -> Value {
    let mut body = chat(model, text);
    body["stream"] = json!(true);
    body["stream_options"] = json!({ "include_usage": true });
    body
}

async fn call(stub: &Stub, path: &str, body: &Value) -> Result<Response<Body>, Error> {
    stub.clone().oneshot(ask(path, body)).await
}

async fn answer(stub: &Stub, path: &str, body: &Value) -> Value {
    let response = call(stub, path, body).await.unwrap();
    assert_eq!(response.status(), 200);
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

const CHAT: &str = "/v1/chat/completions";

/// The payloads of a stream, and when each came.
async fn events(stub: &Stub, path: &str, body: &Value) -> Vec<(Duration, String)> {
    let start = Instant::now();
    let response = call(stub, path, body).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    let mut events = Vec::new();
    while let Some(frame) = body.frame().await {
        let data = frame.unwrap().into_data().unwrap();
        let event = std::str::from_utf8(&data).unwrap();
        let event = event
            .strip_prefix("data: ")
            .unwrap()
            .strip_suffix("\n\n")
            .unwrap();
        events.push((start.elapsed(), event.to_owned()));
    }
    events
}

#[tokio::test(start_paused = true)]
async fn a_call_costs_twelve_milliseconds_and_three_a_prompt() {
    let stub = Stub::default();
    for (prompts, cost) in [(1, 15), (8, 36)] {
        let start = Instant::now();
        let body = json!({ "model": "stub", "prompt": vec!["x"; prompts] });
        answer(&stub, "/v1/completions", &body).await;
        assert_eq!(start.elapsed(), Duration::from_millis(cost));
    }
    let stats = stub.stats();
    assert_eq!(
        (stats.requests, stats.generations, stats.completed),
        (2, 9, 2)
    );
    assert_eq!(
        stats.batches.into_iter().collect::<Vec<_>>(),
        [(1, 1), (8, 1)]
    );
}

#[tokio::test(start_paused = true)]
async fn calls_do_not_wait_for_one_another() {
    let stub = Stub::default();
    let start = Instant::now();
    let calls: Vec<_> = (0..100)
        .map(|i| {
            let stub = stub.clone();
            tokio::spawn(async move { answer(&stub, CHAT, &chat("stub", &i.to_string())).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(start.elapsed(), Duration::from_millis(15));
}

#[tokio::test(start_paused = true)]
async fn a_stream_keeps_its_pace_and_says_what_the_body_says() {
    let stub = Stub::default();
    let body = answer(&stub, CHAT, &chat("stub", "Hello")).await;
    let events = events(&stub, CHAT, &streamed("stub", "Hello")).await;
    let tokens = body["usage"]["completion_tokens"].as_u64().unwrap();
    // Role, tokens, finish, usage, [DONE].
    assert_eq!(events.len() as u64, 1 + tokens + 3);
    assert_eq!(events.last().unwrap().1, "[DONE]");
    let chunk = |index: usize| serde_json::from_str::<Value>(&events[index].1).unwrap();
    assert_eq!(
        chunk(0)["choices"][0]["delta"],
        json!({ "role": "assistant", "content": "" })
    );
    let text: String = (1..=tokens as usize)
        .map(|i| {
            chunk(i)["choices"][0]["delta"]["content"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(text, body["choices"][0]["message"]["content"]);
    assert_eq!(
        chunk(tokens as usize + 1)["choices"][0]["finish_reason"],
        "stop"
    );
    let usage = chunk(tokens as usize + 2);
    assert_eq!(usage["usage"], body["usage"]);
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(chunk(0)["id"], body["id"]);
    for (token, (at, _)) in events[1..=tokens as usize].iter().enumerate() {
        assert_eq!(*at, Duration::from_millis(15 + 5 * token as u64));
    }
    assert_eq!(
        events.last().unwrap().0,
        Duration::from_millis(15 + 5 * (tokens - 1))
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_prompt_has_the_same_answer_and_another_prompt_another() {
    let (one, two) = (Stub::default(), Stub::default());
    let hello = answer(&one, CHAT, &chat("stub", "Hello")).await;
    assert_eq!(hello, answer(&two, CHAT, &chat("stub", "Hello")).await);
    assert_ne!(
        hello["choices"],
        answer(&one, CHAT, &chat("stub", "Hallo")).await["choices"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_longer_than_asked_for_is_cut_to_length() {
    let stub = Stub::default();
    for key in ["max_tokens", "max_completion_tokens"] {
        let mut body = chat("stub", "Hello");
        body[key] = json!(5);
        let short = answer(&stub, CHAT, &body).await;
        assert_eq!(short["choices"][0]["finish_reason"], "length");
        assert_eq!(short["usage"]["completion_tokens"], 5);
        let text = short["choices"][0]["message"]["content"].as_str().unwrap();
        assert_eq!(text.split(' ').count(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn streamed_prompts_interleave_by_index_and_equal_the_body() {
    let stub = Stub::default();
    let mut body = json!({ "model": "stub", "prompt": ["one", "two", "three"] });
    let whole = answer(&stub, "/v1/completions", &body).await;
    assert_eq!(whole["choices"].as_array().unwrap().len(), 3);
    body["stream"] = json!(true);
    let events = events(&stub, "/v1/completions", &body).await;
    let mut texts = vec![String::new(); 3];
    let mut order = Vec::new();
    for (_, event) in events.iter().filter(|(_, event)| event != "[DONE]") {
        let chunk: Value = serde_json::from_str(event).unwrap();
        let choice = &chunk["choices"][0];
        let index = choice["index"].as_u64().unwrap() as usize;
        order.push(index);
        texts[index].push_str(choice["text"].as_str().unwrap());
    }
    assert_eq!(order[..6], [0, 1, 2, 0, 1, 2]);
    for (index, text) in texts.iter().enumerate() {
        assert_eq!(whole["choices"][index]["text"], *text);
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_of_a_batch_is_answered_as_if_it_were_alone() {
    let stub = Stub::default();
    let batch = json!({ "model": "stub", "prompt": ["one", "two"] });
    let batch = answer(&stub, "/v1/completions", &batch).await;
    let alone = json!({ "model": "stub", "prompt": "two" });
    let alone = answer(&stub, "/v1/completions", &alone).await;
    assert_eq!(batch["choices"][1]["text"], alone["choices"][0]["text"]);
}

#[tokio::test(start_paused = true)]
async fn embeddings_are_unit_vectors_in_both_encodings() {
    let stub = Stub::default();
    let mut body = json!({ "model": "stub", "input": ["a", "b"], "dimensions": 8 });
    let floats = answer(&stub, "/v1/embeddings", &body).await;
    let vector: Vec<f32> = serde_json::from_value(floats["data"][1]["embedding"].clone()).unwrap();
    assert_eq!(vector.len(), 8);
    assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
    body["encoding_format"] = json!("base64");
    let coded = answer(&stub, "/v1/embeddings", &body).await;
    let text = coded["data"][1]["embedding"].as_str().unwrap();
    // 32 bytes are 44 digits, one of them padding.
    assert_eq!((text.len(), text.ends_with('=')), (44, true));
    assert_eq!(floats["usage"], coded["usage"]);
}

#[tokio::test(start_paused = true)]
async fn n_choices_differ() {
    let mut body = chat("stub", "Hello");
    body["n"] = json!(2);
    let both = answer(&Stub::default(), CHAT, &body).await;
    assert_ne!(both["choices"][0]["message"], both["choices"][1]["message"]);
    assert_eq!(both["choices"][1]["index"], 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_with_a_request_is_said() {
    let stub = Stub::default();
    for (path, body, part) in [
        (CHAT, json!({ "model": "stub" }), "messages"),
        (CHAT, chat("stub?dealy=1ms", "x"), "`dealy`"),
        (CHAT, chat("stub?delay=soon", "x"), "`soon`"),
        ("/v1/completions", json!({ "prompt": {} }), "prompt"),
        ("/v1/embeddings", json!({ "input": [] }), "input"),
    ] {
        let response = call(&stub, path, &body).await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        let error = response.into_body().collect().await.unwrap().to_bytes();
        let error: Value = serde_json::from_slice(&error).unwrap();
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{message}");
        assert_eq!(error["error"]["type"], "invalid_request_error");
    }
    let response = stub.clone().oneshot(ask(CHAT, &json!("{"))).await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(stub.stats().failed, 6);
    assert_eq!(stub.stats().generations, 0);
}

#[tokio::test(start_paused = true)]
async fn a_status_is_answered_with_retry_after() {
    let stub = Stub::default();
    let body = chat("stub?status=429&retry_after=7&delay=1s", "x");
    let start = Instant::now();
    let response = call(&stub, CHAT, &body).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(response.headers()["retry-after"], "7");
    let error = response.into_body().collect().await.unwrap().to_bytes();
    let error: Value = serde_json::from_slice(&error).unwrap();
    assert_eq!(error["error"]["type"], "rate_limit_error");
}

#[tokio::test(start_paused = true)]
async fn only_the_first_requests_fail_and_again_after_a_reset() {
    let stub = Stub::default();
    for _ in 0..2 {
        for status in [503, 503, 200, 200] {
            let response = call(&stub, CHAT, &chat("stub?fail_first=2", "x"))
                .await
                .unwrap();
            assert_eq!(response.status(), status);
        }
        stub.reset();
    }
}

#[tokio::test(start_paused = true)]
async fn faults_come_after_so_many_events() {
    let stub = Stub::new(Settings::instant());
    for n in [0, 1, 3] {
        let body = streamed(&format!("stub?cut={n}"), "x");
        let mut body = call(&stub, CHAT, &body).await.unwrap().into_body();
        for _ in 0..n {
            assert!(body.frame().await.unwrap().is_ok());
        }
        assert_eq!(body.frame().await.unwrap().unwrap_err().kind(), Kind::Cut);
        assert!(body.frame().await.is_none());

        let events = events(
            &stub,
            CHAT,
            &streamed(&format!("stub?error_event={n}"), "x"),
        )
        .await;
        assert_eq!(events.len(), n + 1);
        assert!(events[n].1.starts_with(r#"{"error":{"#), "{}", events[n].1);

        let body = streamed(&format!("stub?stall={n}"), "x");
        let mut body = call(&stub, CHAT, &body).await.unwrap().into_body();
        for _ in 0..n {
            assert!(body.frame().await.unwrap().is_ok());
        }
        let day = Duration::from_secs(86_400);
        assert!(tokio::time::timeout(day, body.frame()).await.is_err());
    }
    let stats = stub.stats();
    assert_eq!((stats.failed, stats.cancelled, stats.in_flight), (6, 3, 0));
}

#[tokio::test(start_paused = true)]
async fn the_bytes_are_the_same_whatever_their_frames() {
    let stub = Stub::new(Settings::instant());
    let collect = async |model: &str| -> Bytes {
        let body = call(&stub, CHAT, &streamed(model, "x"))
            .await
            .unwrap()
            .into_body();
        body.collect().await.unwrap().to_bytes()
    };
    // The model's name is in every event.
    let plain = collect("stub?split=9").await;
    let split = collect("stub?split=1").await;
    assert_eq!(
        String::from_utf8_lossy(&plain)
            .replace("split=9", "split=1")
            .as_bytes(),
        split
    );
    let crlf = collect("stub?crlf=1").await;
    assert!(crlf.ends_with(b"data: [DONE]\r\n\r\n"));
    let comments = collect("stub?comments=1").await;
    assert!(comments.starts_with(b": keep-alive\n\ndata: {"));
    assert!(!collect("stub?done=0").await.ends_with(b"[DONE]\n\n"));
}

#[tokio::test(start_paused = true)]
async fn a_stream_knows_its_end_and_counts_it_though_nobody_asks_again() {
    for model in ["stub", "stub?split=7", "stub?comments=1"] {
        let stub = Stub::new(Settings::instant());
        let mut body = call(&stub, CHAT, &streamed(model, "x"))
            .await
            .unwrap()
            .into_body();
        while !body.is_end_stream() {
            body.frame().await.unwrap().unwrap();
        }
        drop(body);
        assert_eq!(
            (stub.stats().completed, stub.stats().cancelled),
            (1, 0),
            "{model}"
        );
    }
}

#[tokio::test]
async fn the_small_endpoints_answer() {
    let (client, stub) = stub_server(Settings::instant()).await;
    for (path, part) in [
        ("/health", r#"{"status":"ok"}"#),
        ("/v1/models", r#""id":"stub""#),
        ("/stats", r#""in_flight":0"#),
    ] {
        let response = within(client.clone().oneshot(get(path))).await.unwrap();
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body = String::from_utf8_lossy(&body);
        assert!(body.contains(part), "{body}");
    }
    let calls = [
        (get("/v1/nothing"), 404),
        (get(CHAT), 405),
        (get("/reset"), 405),
    ];
    for (request, status) in calls {
        assert_eq!(
            client.clone().oneshot(request).await.unwrap().status(),
            status
        );
    }
    client
        .clone()
        .oneshot(ask(CHAT, &chat("stub", "x")))
        .await
        .unwrap();
    assert_eq!(stub.stats().completed, 1);
    assert_eq!(
        client
            .oneshot(ask("/reset", &json!(null)))
            .await
            .unwrap()
            .status(),
        200
    );
    assert_eq!(stub.stats(), stub::Stats::default());
}

#[tokio::test]
async fn over_a_socket_faults_are_what_the_client_calls_them() {
    let (client, _stub) = stub_server(Settings::instant()).await;
    let error = client
        .clone()
        .oneshot(ask(CHAT, &chat("stub?drop=1", "x")))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Closed);
    for body in [streamed("stub?cut=2", "x"), chat("stub?cut=1", "x")] {
        let response = client.clone().oneshot(ask(CHAT, &body)).await.unwrap();
        assert_eq!(response.status(), 200);
        let error = within(response.into_body().collect()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Cut);
    }
}

#[tokio::test]
async fn over_a_socket_every_event_comes_in_its_time() {
    let (client, _stub) = stub_server(Settings::default()).await;
    let body = streamed("stub?delay=1ms&pace=20ms&tokens=5", "x");
    let mut body = client.oneshot(ask(CHAT, &body)).await.unwrap().into_body();
    let start = Instant::now();
    let mut frames = 0;
    while let Some(frame) = body.frame().await {
        frame.unwrap();
        frames += 1;
    }
    assert!(frames >= 5, "{frames} frames");
    assert!(
        start.elapsed() >= Duration::from_millis(75),
        "{:?}",
        start.elapsed()
    );
    assert!(
        start.elapsed() < Duration::from_millis(200),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn a_shutdown_finishes_the_answers_under_way() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stub = Stub::default();
    let server = tokio::spawn(stub::serve(listener, stub.clone(), stopped));
    let client = llm_backend::client::OpenAi::new(harness::base(address));
    let body = streamed("stub?pace=20ms&tokens=5", "x");
    let response = client.clone().oneshot(ask(CHAT, &body)).await.unwrap();
    stop.send(()).unwrap();
    let body = within(response.into_body().collect())
        .await
        .unwrap()
        .to_bytes();
    assert!(body.ends_with(b"data: [DONE]\n\n"));
    within(server).await.unwrap();
    assert_eq!(
        client.oneshot(get("/health")).await.unwrap_err().kind(),
        Kind::Refused
    );
}

#[tokio::test]
async fn a_server_that_is_dropped_closes_its_connections() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(stub::serve(
        listener,
        Stub::default(),
        std::future::pending::<()>(),
    ));
    let client = llm_backend::client::OpenAi::new(harness::base(address));
    let response = client
        .oneshot(ask(CHAT, &streamed("stub?pace=1s", "x")))
        .await
        .unwrap();
    server.abort();
    let error = within(response.into_body().collect()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Cut);
}
