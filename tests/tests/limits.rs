//! Limits of time and of number: each fires when it should, says its name, and leaves nothing behind.

use llm_backend::stub::Settings;
use llm_front::config::Config;
use serde_json::json;
use std::time::Duration;
use tests::{Answer, Connection, End, Gateway, Request, Upstream, chat, model, stream, with};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;

const LIMIT: Duration = Duration::from_millis(400);
const TRIES: u32 = 3;

fn ms(millis: u64) -> llm_front::config::types::Span {
    llm_front::config::types::Span(Duration::from_millis(millis))
}

/// Never before the limit; at best within 10 % after it.
fn on_time(times: &[Duration]) {
    let best = times.iter().min().expect("a try");
    assert!(*best >= LIMIT.mul_f64(0.99), "too early: {times:?}");
    assert!(*best <= LIMIT.mul_f64(1.1), "too late: {times:?}");
}

fn says(answer: &Answer, status: u16, words: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    let error = &answer.json()["error"];
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|message| message.contains(words)),
        "{error}"
    );
}

/// Asks an upstream that says `said` and then nothing, `TRIES` times.
async fn silence(
    change: fn(&mut Config),
    said: &'static str,
    ask: serde_json::Value,
) -> Vec<Answer> {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), change).await;
    let mut answers = Vec::new();
    for _ in 0..TRIES {
        let mut connection = gateway.connect().await;
        connection.ask(&Request::chat(&ask)).await;
        let mut peer = upstream.accept().await;
        peer.request().await.expect("the request");
        peer.say(said).await;
        answers.push(connection.answer().await);
        peer.gone().await;
    }
    gateway.quiet().await;
    answers
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const FIRST: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n";

#[tokio::test]
async fn an_upstream_without_a_head_is_given_up_on_time() {
    for temperature in [0, 1] {
        let ask = with(chat("x"), json!({ "temperature": temperature }));
        let answers = silence(|config| config.headers_timeout = ms(400), "", ask).await;
        on_time(
            &answers
                .iter()
                .map(|answer| answer.ended_after)
                .collect::<Vec<_>>(),
        );
        says(&answers[0], 504, "no response head within 400ms");
        assert_eq!(answers[0].json()["error"]["type"], "timeout_error");
    }
}

#[tokio::test]
async fn an_upstream_without_a_first_token_is_given_up_on_time() {
    let answers = silence(
        |config| config.first_token_timeout = ms(400),
        HEAD,
        stream(chat("x")),
    )
    .await;
    on_time(
        &answers
            .iter()
            .map(|answer| answer.ended_after)
            .collect::<Vec<_>>(),
    );
    assert!(
        answers
            .iter()
            .all(|answer| answer.end == End::Cut || answer.status == 504),
        "{answers:?}"
    );
    for answer in answers {
        names_itself(&answer, "first_token_timeout");
    }
}

/// Whether an answer that broke off under a limit ends with its name.
fn names_itself(answer: &Answer, code: &str) {
    let last = answer.events().pop().unwrap_or_default();
    let event: serde_json::Value = serde_json::from_str(&last).expect("an event of JSON");
    assert_eq!(event["error"]["code"], code, "{answer:?}");
    assert_eq!(event["error"]["type"], "timeout_error", "{answer:?}");
    let message = event["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("400ms"), "{message}");
}

#[tokio::test]
async fn an_upstream_that_falls_silent_is_given_up_on_time() {
    let answers = silence(
        |config| config.idle_timeout = ms(400),
        FIRST,
        stream(chat("x")),
    )
    .await;
    on_time(
        &answers
            .iter()
            .map(|answer| answer.ended_after)
            .collect::<Vec<_>>(),
    );
    for answer in answers {
        assert_eq!((answer.status, answer.end), (200, End::Cut));
        let events = answer.events();
        assert_eq!(events.first().map(String::as_str), Some("1"));
        names_itself(&answer, "idle_timeout");
    }
}

#[tokio::test]
async fn a_total_limit_ends_an_answer_that_goes_on_and_on() {
    let gateway =
        Gateway::before_stub(|config| config.total_timeout = "400ms".parse().expect("a limit"))
            .await;
    let mut times = Vec::new();
    for _ in 0..TRIES {
        let answer = gateway
            .chat(&stream(model("stub?tokens=1000&pace=10ms", "x")))
            .await;
        assert_eq!((answer.status, answer.end), (200, End::Cut));
        names_itself(&answer, "total_timeout");
        times.push(answer.ended_after);
    }
    on_time(&times);
    gateway.quiet().await;
}

#[tokio::test]
async fn an_upstream_that_takes_no_connection_is_given_up_on_time() {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let listener = socket.listen(1).expect("a listener");
    let address = listener.local_addr().expect("an address");
    let mut fillers = Vec::new();
    while let Ok(Ok(filler)) =
        tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await
    {
        fillers.push(filler);
        assert!(fillers.len() < 16, "a queue of one is never full");
    }
    let gateway = Gateway::before(&format!("http://{address}"), |config| {
        config.connect_timeout = ms(400);
    })
    .await;
    let mut times = Vec::new();
    for _ in 0..TRIES {
        let answer = gateway.chat(&chat("x")).await;
        says(&answer, 504, "no connection within 400ms");
        assert!(answer.text().contains(&address.to_string()));
        times.push(answer.ended_after);
    }
    on_time(&times);
}

#[tokio::test]
async fn who_never_reads_is_given_up_and_frees_the_upstream() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| {
        config.send_timeout = ms(400);
        config.max_upstream = 1;
    })
    .await;
    let ask = with(stream(chat("x")), json!({ "temperature": 1 }));
    let event = format!("data: {}\n\n", "x".repeat(64 << 10));
    let event = format!("{:x}\r\n{event}\r\n", event.len());
    let mut times = Vec::new();
    for _ in 0..TRIES {
        let mut caller = Connection::open_narrow(gateway.address, 4 << 10).await;
        caller.ask(&Request::chat(&ask)).await;
        let mut peer = upstream.accept().await;
        peer.request().await.expect("the request");
        peer.begin_stream().await;
        let began = Instant::now();
        tests::within(async {
            let mut said = 0;
            while peer.try_say(event.as_bytes()).await {
                said += event.len();
                assert!(said < 256 << 20, "the gateway takes it all");
            }
        })
        .await;
        times.push(began.elapsed());
        gateway.quiet().await;
        drop(caller);
    }
    let best = times.iter().min().expect("a try");
    assert!(*best >= LIMIT.mul_f64(0.99), "too early: {times:?}");
    // It takes a while until everything on the way is full.
    assert!(*best <= LIMIT * 5, "too late: {times:?}");
}

#[tokio::test]
async fn who_reads_slowly_is_not_given_up() {
    let limit = Duration::from_secs(1);
    let gateway = Gateway::before_stub(|config| config.send_timeout = ms(1_000)).await;
    // Far more than there is room for on the way.
    let ask = with(
        stream(model("stub?tokens=40000", "x")),
        json!({ "temperature": 1, "max_tokens": 40_000 }),
    );
    let mut caller = Connection::open_narrow(gateway.address, 64 << 10).await;
    caller.ask(&Request::chat(&ask)).await;
    assert!(caller.head().await);
    let mut events = 0;
    let end = loop {
        match caller.frame().await {
            Ok(_) => events += 1,
            Err(end) => break end,
        }
        if events % 200 == 0 {
            tokio::time::sleep(limit / 100).await;
        }
    };
    assert_eq!(end, End::Clean, "after {events} events");
    assert!(events > 40_000, "{events}");
    assert!(
        caller.asked().elapsed() > limit,
        "it took too short a time to tell"
    );
}

#[tokio::test]
async fn an_upload_that_falls_silent_is_given_up_with_408_and_frees_its_place() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| {
        config.body_timeout = ms(400);
        config.max_upstream = 1;
    })
    .await;
    let mut times = Vec::new();
    for framing in [
        "content-length: 100",
        "transfer-encoding: chunked",
        "content-length: 5000",
    ] {
        let mut caller = gateway.connect().await;
        let head =
            format!("POST /v1/files HTTP/1.1\r\nhost: gateway\r\n{framing}\r\n\r\n5\r\nhello\r\n");
        caller.say(head.as_bytes()).await;
        let mut peer = upstream.accept().await;
        let answer = caller.answer().await;
        says(&answer, 408, "--body-timeout");
        assert_eq!(answer.json()["error"]["code"], "body_timeout");
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
        times.push(answer.ended_after);
        peer.gone().await;
        gateway.quiet().await;
    }
    on_time(&times);
    // The only place is free again.
    let upload = Request::post("/v1/files", &json!({}));
    let (answer, ()) = tokio::join!(gateway.send(&upload), async {
        let mut peer = upstream.accept().await;
        peer.request().await.expect("the request");
        peer.say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
            .await;
    });
    assert_eq!((answer.status, answer.end), (200, End::Clean));
}

fn endless() -> Settings {
    Settings::instant()
        .pace(Duration::from_millis(20))
        .tokens(100_000)
}

#[tokio::test]
async fn over_the_edge_cap_requests_are_refused_at_once_and_told_when_to_come_again() {
    let gateway = Gateway::before_stub_of(endless(), |config| config.max_requests = 2).await;
    let one = gateway.open(&Request::chat(&stream(chat("a")))).await;
    let two = gateway.open(&Request::chat(&stream(chat("b")))).await;
    let refused = gateway.chat(&chat("c")).await;
    says(&refused, 503, "too many requests");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(refused.json()["error"]["code"], "overloaded");
    assert_eq!(gateway.get("/healthz").await.status, 200);
    drop((one, two));
    gateway.quiet().await;
    let free = gateway.open(&Request::chat(&stream(chat("c")))).await;
    assert_eq!(free.status(), 200);
}

#[tokio::test]
async fn a_request_waits_for_a_place_at_the_backend_but_not_for_ever() {
    let gateway = Gateway::before_stub_of(endless(), |config| {
        config.max_upstream = 1;
        config.upstream_wait = ms(400);
    })
    .await;
    // Shared and sampled requests, and what is only passed on, wait in the same queue.
    let holder = gateway.open(&Request::chat(&stream(chat("a")))).await;
    for request in [
        Request::chat(&chat("b")),
        Request::chat(&with(chat("b"), json!({ "temperature": 1 }))),
        Request::post("/v1/generate", &json!({ "prompt": "x" })),
        Request::new("GET", "/v1/models"),
    ] {
        let answer = gateway.send(&request).await;
        says(&answer, 503, "the backend is full");
        assert_eq!(answer.header("retry-after"), "1");
        assert_eq!(answer.json()["error"]["code"], "backend_full");
        assert!(
            answer.ended_after >= LIMIT.mul_f64(0.99),
            "{:?}",
            answer.ended_after
        );
    }
    let waiter = gateway.get("/v1/models");
    let (answer, ()) = tokio::join!(waiter, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(holder);
    });
    assert_eq!(answer.status, 200);
    assert!(answer.ended_after < LIMIT, "{:?}", answer.ended_after);
}
