//! Identical requests in flight share one generation; different ones never share anything.

use llm_backend::stub::Settings;
use serde_json::{Value, json};
use std::time::Duration;
use tests::{Answer, End, Gateway, Request, Upstream, chat, model, stream, with};
use tokio::task::JoinSet;

/// Long enough for every request of a test to come while the first is at work.
fn slow() -> Settings {
    Settings::default()
        .per_call(Duration::from_millis(300))
        .pace(Duration::from_millis(10))
}

async fn at_once(gateway: &Gateway, requests: Vec<Request>) -> Vec<Answer> {
    let mut tasks = JoinSet::new();
    for request in requests {
        let address = gateway.address;
        tasks.spawn(async move { request.send(address).await });
    }
    tasks.join_all().await
}

#[tokio::test]
async fn fifty_identical_requests_are_one_generation_and_one_answer() {
    for ask in [chat("Hello"), stream(chat("Hello"))] {
        let gateway = Gateway::before_stub_of(slow(), |_| {}).await;
        let answers = at_once(&gateway, vec![Request::chat(&ask); 50]).await;
        let truth = gateway.backend().post("/v1/chat/completions", &ask).await;
        for answer in &answers {
            assert_eq!((answer.status, answer.end), (200, End::Clean));
            assert_eq!(answer.body(), truth.body());
        }
        let collapsed = answers
            .iter()
            .filter(|answer| answer.source() == "fwd=miss; collapsed");
        assert_eq!(collapsed.count(), 49);
        assert_eq!(
            gateway.stub().stats().generations,
            2,
            "one, and the direct one"
        );
        gateway.quiet().await;
        let metrics = gateway.metrics().await;
        assert_eq!(
            metrics.sum("llm_front_requests_total", &["source=\"coalesced\""]),
            49.0
        );
        assert_eq!(metrics.value("llm_front_cache_entries"), 1.0);
    }
}

#[tokio::test]
async fn who_joins_a_stream_late_gets_what_was_said_at_once_and_then_the_rest_live() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    let ask = Request::chat(&stream(chat("Hello")));
    let mut first = gateway.connect().await;
    first.ask(&ask).await;
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.begin_stream().await;
    for n in 0..3 {
        peer.chunk(&format!("data: {n}\n\n")).await;
    }
    first.head().await;
    for _ in 0..3 {
        first.frame().await.expect("an event");
    }
    let mut late = gateway.open(&ask).await;
    assert_eq!(
        late.header("cache-status"),
        "llm-front; fwd=miss; collapsed"
    );
    let mut replayed = Vec::new();
    while replayed.len() < 3 * "data: 0\n\n".len() {
        replayed.extend(late.frame().await.expect("an event").bytes);
    }
    assert_eq!(replayed, b"data: 0\n\ndata: 1\n\ndata: 2\n\n");
    // Live: it comes before anything else is said.
    peer.chunk("data: 3\n\n").await;
    assert_eq!(late.frame().await.expect("an event").bytes, b"data: 3\n\n");
    peer.say("0\r\n\r\n").await;
    assert_eq!(
        (late.rest().await.end, first.rest().await.end),
        (End::Clean, End::Clean)
    );
    assert_eq!(upstream.connections(), 1);
}

#[tokio::test]
async fn the_first_to_ask_may_leave_and_the_others_get_the_answer() {
    for ask in [chat("Hello"), stream(chat("Hello"))] {
        let gateway = Gateway::before_stub_of(slow(), |_| {}).await;
        let request = Request::chat(&ask);
        let mut first = gateway.connect().await;
        first.ask(&request).await;
        tests::until(|| gateway.stub().stats().in_flight == 1).await;
        let followers = vec![request; 5];
        let (answers, ()) = tokio::join!(at_once(&gateway, followers), async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            drop(first);
        });
        for answer in answers {
            assert_eq!(
                (answer.status, answer.end, answer.source()),
                (200, End::Clean, "fwd=miss; collapsed")
            );
        }
        let stats = gateway.stub().stats();
        assert_eq!((stats.generations, stats.cancelled), (1, 0));
        gateway.quiet().await;
    }
}

/// Sends both at the same time and after one another: neither flight nor cache may bring them together.
async fn never_share(one: Request, other: Request, why: &str) {
    let gateway = Gateway::before_stub_of(
        Settings::default()
            .per_call(Duration::from_millis(40))
            .pace(Duration::ZERO),
        |_| {},
    )
    .await;
    let answers = at_once(&gateway, vec![one.clone(), other.clone()]).await;
    assert!(
        answers.iter().all(|answer| answer.status == 200),
        "{why}: {answers:?}"
    );
    assert_eq!(gateway.stub().stats().generations, 2, "in flight: {why}");
    for request in [one, other] {
        assert_eq!(
            gateway.send(&request).await.source(),
            "hit; detail=exact",
            "{why}"
        );
    }
    assert_eq!(gateway.stub().stats().generations, 2, "{why}");
    assert_eq!(
        gateway.metrics().await.value("llm_front_cache_entries"),
        2.0,
        "{why}"
    );
}

fn base() -> Value {
    with(chat("Hello"), json!({ "max_tokens": 50 }))
}

#[tokio::test]
async fn callers_with_different_credentials_never_share() {
    let mut tasks = JoinSet::new();
    for header in [
        "authorization",
        "api-key",
        "x-api-key",
        "cookie",
        "x-tenant",
        // Not known by name.
        "x-goog-api-key",
        "x-auth-token",
        "ocp-apim-subscription-key",
    ] {
        let ask = Request::chat(&base());
        tasks.spawn(never_share(
            ask.clone().header(header, "a"),
            ask.clone().header(header, "b"),
            header,
        ));
        tasks.spawn(never_share(ask.clone().header(header, "a"), ask, header));
    }
    // The same words as another kind of credential are another tenant.
    let ask = Request::chat(&base());
    tasks.spawn(never_share(
        ask.clone().header("api-key", "a"),
        ask.header("x-api-key", "a"),
        "kinds",
    ));
    tasks.join_all().await;
}

#[tokio::test]
async fn headers_that_can_change_an_answer_keep_answers_apart() {
    let mut tasks = JoinSet::new();
    for header in [
        "openai-organization",
        "openai-project",
        "openai-beta",
        "anthropic-version",
        "anthropic-beta",
    ] {
        let ask = Request::chat(&base());
        tasks.spawn(never_share(
            ask.clone().header(header, "a"),
            ask.header(header, "b"),
            header,
        ));
    }
    tasks.join_all().await;
}

#[tokio::test]
async fn different_queries_keep_answers_apart() {
    let chat = |query: &str| Request::post(&format!("/v1/chat/completions{query}"), &base());
    let generate =
        |query: &str| Request::post(&format!("/v1/generate{query}"), &json!({ "prompt": "x" }));
    let mut tasks = JoinSet::new();
    for (one, other, why) in [
        (chat("?version=1"), chat("?version=2"), "two values"),
        (chat("?version=1"), chat(""), "one and none"),
        (generate("?version=1"), generate("?version=2"), "generate"),
    ] {
        tasks.spawn(never_share(one, other, why));
    }
    tasks.join_all().await;
}

#[tokio::test]
async fn any_field_known_or_not_keeps_answers_apart() {
    let changes = [
        json!({ "model": "other" }),
        json!({ "max_tokens": 51 }),
        json!({ "temperature": 0.0 }),
        json!({ "seed": 1 }),
        json!({ "stop": ["x"] }),
        json!({ "tools": [] }),
        json!({ "response_format": { "type": "json_object" } }),
        json!({ "logprobs": true }),
        json!({ "messages": [{ "role": "user", "content": "Hello " }] }),
        json!({ "messages": [{ "role": "system", "content": "Hello" }] }),
        json!({ "unknown": null }),
        json!({ "chat_template_kwargs": { "a": 1 } }),
    ];
    let mut tasks = JoinSet::new();
    for change in changes {
        let why = change.to_string();
        let other = Request::chat(&with(base(), change));
        tasks.spawn(async move { never_share(Request::chat(&base()), other, &why).await });
    }
    tasks.join_all().await;
}

#[tokio::test]
async fn what_cannot_change_an_answer_does_not_keep_answers_apart() {
    let gateway = Gateway::before_stub(|_| {}).await;
    gateway.chat(&base()).await;
    for same in [
        json!({ "user": "u" }),
        json!({ "metadata": { "a": "b" } }),
        json!({ "store": true }),
        json!({ "stream": false }),
    ] {
        assert_eq!(
            gateway.chat(&with(base(), same.clone())).await.source(),
            "hit; detail=exact",
            "{same}"
        );
    }
    for (name, value) in [
        ("user-agent", "x"),
        ("x-request-id", "1"),
        ("x-stainless-os", "y"),
        ("traceparent", "00-1"),
        ("idempotency-key", "k"),
    ] {
        let ask = Request::chat(&base()).header(name, value);
        assert_eq!(
            gateway.send(&ask).await.source(),
            "hit; detail=exact",
            "{name}"
        );
    }
}

/// Generations that two requests at the same time cause.
async fn generations(one: Request, other: Request) -> u64 {
    let gateway = Gateway::before_stub_of(slow(), |_| {}).await;
    let answers = at_once(&gateway, vec![one, other]).await;
    assert!(
        answers
            .iter()
            .all(|answer| answer.status == 200 && answer.end == End::Clean)
    );
    gateway.stub().stats().generations
}

#[tokio::test]
async fn a_flight_is_of_one_form_one_usage_and_one_cache_control() {
    let plain = Request::chat(&base());
    let streamed = Request::chat(&stream(base()));
    let with_usage = Request::chat(&with(
        stream(base()),
        json!({ "stream_options": { "include_usage": true } }),
    ));
    let no_cache = plain.clone().header("cache-control", "no-cache");
    let no_store = plain.clone().header("cache-control", "no-store");
    let pairs = [
        (&plain, &streamed, 2),
        (&streamed, &with_usage, 2),
        (&plain, &no_cache, 2),
        (&plain, &no_store, 2),
        (&no_cache, &no_cache, 1),
        (&with_usage, &with_usage, 1),
    ];
    let mut tasks = JoinSet::new();
    for (index, (one, other, expected)) in pairs.into_iter().enumerate() {
        let (one, other) = (one.clone(), other.clone());
        tasks.spawn(
            async move { assert_eq!(generations(one, other).await, expected, "pair {index}") },
        );
    }
    tasks.join_all().await;
}

#[tokio::test]
async fn a_caller_can_only_make_reuse_stricter() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let ask = |control: &str| Request::chat(&base()).header("cache-control", control);
    let only = gateway.send(&ask("only-if-cached")).await;
    assert_eq!(only.status, 504);
    assert_eq!(gateway.stub().stats().requests, 0);
    assert_eq!(gateway.send(&ask("no-store")).await.source(), "fwd=miss");
    assert_eq!(
        gateway.chat(&base()).await.source(),
        "fwd=miss",
        "nothing was stored"
    );
    assert_eq!(
        gateway.send(&ask("only-if-cached")).await.source(),
        "hit; detail=exact"
    );
    assert_eq!(gateway.send(&ask("no-cache")).await.source(), "fwd=miss");
    assert_eq!(gateway.send(&ask("max-age=0")).await.source(), "fwd=miss");
    assert_eq!(
        gateway.send(&ask("max-age=1000")).await.source(),
        "hit; detail=exact"
    );
}

#[tokio::test]
async fn sampled_requests_and_those_for_several_choices_never_share() {
    let gateway = Gateway::before_stub_of(slow(), |_| {}).await;
    let sampled = Request::chat(&with(chat("Hello"), json!({ "temperature": 0.7 })));
    let choices = Request::chat(&with(chat("Hello"), json!({ "n": 2 })));
    at_once(
        &gateway,
        vec![sampled.clone(), sampled, choices.clone(), choices],
    )
    .await;
    assert_eq!(gateway.stub().stats().generations, 4);
    assert_eq!(
        gateway.metrics().await.value("llm_front_cache_entries"),
        0.0
    );
}

#[tokio::test]
async fn everybody_in_a_flight_gets_the_same_refusal_and_nobody_after_it() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let ask = Request::chat(&model("stub?status=429&retry_after=3&delay=300ms", "Hello"));
    let answers = at_once(&gateway, vec![ask.clone(); 10]).await;
    for answer in &answers {
        assert_eq!((answer.status, answer.header("retry-after")), (429, "3"));
        assert_eq!(answer.body(), answers[0].body());
    }
    assert_eq!(gateway.stub().stats().requests, 1);
    assert_eq!(gateway.send(&ask).await.source(), "fwd=miss");
    assert_eq!(gateway.stub().stats().requests, 2);
}
