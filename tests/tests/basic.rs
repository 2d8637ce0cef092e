//! Endpoints, forms, what is passed on untouched, and what is refused.

use serde_json::{Value, json};
use std::time::Duration;
use tests::{
    Close, Connection, End, Gateway, Message, Request, Upstream, answer_all, chat, stream, with,
};

const CHAT: &str = "/v1/chat/completions";

#[tokio::test]
async fn each_endpoint_answers_as_the_server_itself_does() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let asks = [
        (CHAT, chat("Hello")),
        (CHAT, stream(chat("Hi"))),
        (
            CHAT,
            with(
                stream(chat("Hey")),
                json!({ "stream_options": { "include_usage": true } }),
            ),
        ),
        (CHAT, with(chat("Hello"), json!({ "n": 3 }))),
        (
            "/v1/completions",
            json!({ "model": "stub", "prompt": ["a", "b"], "temperature": 0 }),
        ),
        (
            "/v1/completions",
            json!({ "model": "stub", "prompt": "a", "stream": true }),
        ),
        (
            "/v1/embeddings",
            json!({ "model": "stub", "input": ["a", "b", "c"] }),
        ),
        (
            "/v1/embeddings",
            json!({ "model": "stub", "input": "a", "encoding_format": "base64" }),
        ),
    ];
    for (path, ask) in asks {
        let truth = gateway.backend().post(path, &ask).await;
        let answer = gateway.post(path, &ask).await;
        assert_eq!(
            (answer.status, answer.end),
            (200, End::Clean),
            "{path} {ask}"
        );
        assert_eq!(answer.body(), truth.body(), "{path} {ask}");
        assert_eq!(answer.header("content-type"), truth.header("content-type"));
    }
    let models = gateway.get("/v1/models").await;
    assert_eq!(models.json()["data"][0]["id"], "stub");
}

#[tokio::test]
async fn generate_answers_with_one_text() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let answer = gateway
        .post(
            "/v1/generate",
            &json!({ "prompt": "Hello", "max_tokens": 500 }),
        )
        .await;
    let completion =
        json!({ "model": "stub", "prompt": ["Hello"], "max_tokens": 500, "temperature": 0 });
    let truth = gateway
        .backend()
        .post("/v1/completions", &completion)
        .await
        .json();
    let expected =
        json!({ "text": truth["choices"][0]["text"], "finish_reason": "stop", "model": "stub" });
    assert_eq!(answer.json(), expected);
    for wrong in [
        json!({ "prompt": "" }),
        json!({ "prompt": "x".repeat(20_001) }),
        json!({ "prompt": "x", "max_tokens": 0 }),
        json!({ "prompt": "x", "max_tokens": 4097 }),
        json!({ "max_tokens": 1 }),
        json!({ "prompt": ["x"] }),
    ] {
        assert_eq!(gateway.post("/v1/generate", &wrong).await.status, 400);
    }
    let longest = json!({ "prompt": "é".repeat(20_000), "max_tokens": 4096 });
    assert_eq!(gateway.post("/v1/generate", &longest).await.status, 200);
}

#[tokio::test]
async fn each_answer_says_where_it_came_from() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let sources = [
        (chat("a"), "fwd=miss"),
        (chat("a"), "hit; detail=exact"),
        (
            with(chat("a"), json!({ "temperature": 1 })),
            "fwd=bypass; detail=sampled",
        ),
        (
            with(chat("a"), json!({ "temperature": null })),
            "fwd=bypass; detail=sampled",
        ),
        (
            with(chat("a"), json!({ "n": 2 })),
            "fwd=bypass; detail=choices",
        ),
    ];
    for (ask, source) in sources {
        let answer = gateway.chat(&ask).await;
        assert_eq!((answer.status, answer.source()), (200, source), "{ask}");
    }
    assert_eq!(gateway.get("/v1/models").await.source(), "fwd=bypass");
    let off = Gateway::before_stub(|config| {
        config.cache = "off".parse().expect("a switch");
        config.coalesce = "off".parse().expect("a switch");
    })
    .await;
    assert_eq!(
        off.chat(&chat("a")).await.source(),
        "fwd=bypass; detail=off"
    );
    // As it is counted.
    let metrics = gateway.metrics().await;
    for (source, count) in [("generation", 1.0), ("hit", 1.0), ("bypass", 3.0)] {
        let labels = [format!("source=\"{source}\""), "route=\"chat\"".to_owned()];
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        assert_eq!(
            metrics.sum("llm_front_requests_total", &labels),
            count,
            "{source}"
        );
    }
}

#[tokio::test]
async fn a_hit_is_the_answer_byte_for_byte_and_says_its_age() {
    let gateway = Gateway::before_stub(|_| {}).await;
    for ask in [chat("Hello"), stream(chat("Good morning"))] {
        let miss = gateway.chat(&ask).await;
        assert_eq!(miss.header("age"), "");
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        let hit = gateway.chat(&ask).await;
        assert_eq!(hit.source(), "hit; detail=exact");
        assert_eq!(hit.body(), miss.body());
        assert_eq!(hit.header("content-type"), miss.header("content-type"));
        let age: u32 = hit.header("age").parse().expect("seconds");
        assert!((1..20).contains(&age), "{age}");
    }
}

#[tokio::test]
async fn reordered_json_is_the_same_request() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let one = r#"{"model":"stub","messages":[{"role":"user","content":"é"}],"temperature":0}"#;
    let same = "{ \"temperature\" : 0,\n \"messages\":[{\"content\":\"\\u00e9\",\"role\":\"user\"}], \"model\":\"stub\" }";
    let first = gateway.send(&Request::post_bytes(CHAT, one)).await;
    let second = gateway.send(&Request::post_bytes(CHAT, same)).await;
    assert_eq!(second.source(), "hit; detail=exact");
    assert_eq!(first.body(), second.body());
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_an_error_object_and_the_connection_goes_on() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let mut connection = gateway.connect().await;
    for wrong in [
        "",
        "{",
        "[]",
        "nonsense",
        r#"{"model":"stub","model":"stub","messages":[{"role":"user","content":"x"}]}"#,
        r#"{"messages":[{"role":"user","content":"x"}]}"#,
        r#"{"model":"stub","messages":[]}"#,
        r#"{"model":"stub","messages":[{"role":"user","content":"x"}],"stream":"yes"}"#,
        r#"{"model":7,"messages":[{"role":"user","content":"x"}]}"#,
    ] {
        connection.ask(&Request::post_bytes(CHAT, wrong)).await;
        let answer = connection.answer().await;
        assert_eq!(answer.status, 400, "{wrong}");
        let error = &answer.json()["error"];
        assert_eq!(error["type"], "invalid_request_error", "{wrong}");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| message.len() > 10),
            "{wrong}: {error}"
        );
    }
    connection.ask(&Request::chat(&chat("Hello"))).await;
    assert_eq!(connection.answer().await.status, 200);
    assert_eq!(gateway.stub().stats().requests, 1);
}

#[tokio::test]
async fn unknown_paths_are_not_found_outside_of_v1_and_passed_on_under_it() {
    let gateway = Gateway::before_stub(|_| {}).await;
    for path in ["/", "/v2/chat", "/chat/completions", "/v1"] {
        let answer = gateway.get(path).await;
        assert_eq!(
            (answer.status, answer.json()["error"]["type"].clone()),
            (404, json!("not_found_error"))
        );
    }
    let passed = gateway.get("/v1/files").await;
    assert_eq!(passed.status, 404);
    assert!(
        passed.text().contains("there is no /v1/files"),
        "the server's own words: {}",
        passed.text()
    );
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(gateway.get(path).await.status, 200, "{path}");
        assert_eq!(gateway.post(path, &json!({})).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn in_trusted_mode_a_request_without_a_tenant_is_refused() {
    let gateway =
        Gateway::before_stub(|config| config.tenants = "header".parse().expect("a mode")).await;
    assert_eq!(gateway.chat(&chat("Hello")).await.status, 401);
    let ask = Request::chat(&chat("Hello"));
    for blank in ["", "   "] {
        let answer = gateway.send(&ask.clone().header("x-tenant", blank)).await;
        assert_eq!(answer.status, 401, "`{blank}`");
        assert_eq!(answer.json()["error"]["code"], "missing_tenant");
    }
    let named = ask.header("x-tenant", "acme");
    assert_eq!(gateway.send(&named).await.status, 200);
}

#[tokio::test]
async fn a_request_of_two_tenants_is_refused() {
    for mode in ["header", "credentials"] {
        let gateway =
            Gateway::before_stub(|config| config.tenants = mode.parse().expect("a mode")).await;
        for other in ["mallory", "acme", ""] {
            let ask = Request::chat(&chat("Hello"))
                .header("x-tenant", "acme")
                .header("x-tenant", other);
            let answer = gateway.send(&ask).await;
            assert_eq!(answer.status, 400, "{mode}: `{other}`");
            assert_eq!(answer.json()["error"]["code"], "ambiguous_tenant");
        }
        assert_eq!(gateway.stub().stats().requests, 0);
    }
}

#[tokio::test]
async fn who_wants_a_stored_answer_or_nothing_gets_504_where_nothing_is_stored() {
    let only = |ask: &Value| Request::chat(ask).header("cache-control", "only-if-cached");
    let expects_504 = async |gateway: &Gateway, ask: &Value| {
        let answer = gateway.send(&only(ask)).await;
        assert_eq!(answer.status, 504, "{ask}");
        assert_eq!(answer.json()["error"]["code"], "not_cached", "{ask}");
        assert_eq!(gateway.stub().stats().requests, 0, "{ask}");
    };
    let kept = Gateway::before_stub(|_| {}).await;
    for more in [
        json!({}),
        json!({ "stream": true }),
        json!({ "temperature": 1 }),
        json!({ "n": 2 }),
    ] {
        expects_504(&kept, &with(chat("Hello"), more)).await;
    }
    for coalesce in ["on", "off"] {
        let unkept = Gateway::before_stub(|config| {
            config.cache = "off".parse().expect("a switch");
            config.coalesce = coalesce.parse().expect("a switch");
        })
        .await;
        expects_504(&unkept, &chat("Hello")).await;
        expects_504(&unkept, &stream(chat("Hello"))).await;
        unkept.quiet().await;
    }
}

#[tokio::test]
async fn a_query_reaches_the_server_as_it_is() {
    let (gateway, seen) = mirror().await;
    for path in [
        "/v1/chat/completions?api-version=1&x=%20y",
        "/v1/chat/completions?api-version=2&x=%20y",
    ] {
        assert_eq!(gateway.post(path, &chat("Hello")).await.status, 200);
        let message = seen.lock().remove(0);
        assert!(
            message.head.starts_with(&format!("POST {path} HTTP/1.1")),
            "{}",
            message.head
        );
    }
}

#[tokio::test]
async fn trailers_reach_the_caller_who_takes_them() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\ntrailer: x-checksum\r\n\r\n";
    const EVENTS: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    answer_all(upstream, |_| async {
        let length = EVENTS.len();
        let answer = format!("{HEAD}{length:x}\r\n{EVENTS}\r\n0\r\nX-Checksum: abc\r\n\r\n");
        Some((answer.into(), Close::Keep))
    });
    let ask = stream(chat("Hello"));
    let trailer = [("x-checksum".to_owned(), "abc".to_owned())];
    for request in [
        Request::chat(&ask),
        Request::chat(&with(ask.clone(), json!({ "temperature": 1 }))),
        Request::post("/v1/other", &ask),
    ] {
        let takes = request.clone().header("te", "trailers");
        let answer = gateway.send(&takes).await;
        assert_eq!((answer.status, answer.end), (200, End::Clean));
        assert_eq!(answer.text(), EVENTS);
        assert_eq!(answer.header("trailer"), "x-checksum");
        assert_eq!(answer.trailers, trailer);
        // Who does not say so is spared them. What has trailers is not kept: a hit would lack them.
        let answer = gateway.send(&request).await;
        assert_eq!((answer.text(), answer.end), (EVENTS.to_owned(), End::Clean));
        assert_eq!(answer.trailers, []);
        assert!(answer.source().starts_with("fwd="), "{}", answer.source());
    }
}

/// A gateway in front of a server that answers with what it was asked, and some of its own.
async fn mirror() -> (Gateway, std::sync::Arc<parking_lot::Mutex<Vec<Message>>>) {
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    let seen = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
    let log = seen.clone();
    answer_all(upstream, move |message: Message| {
        let log = log.clone();
        async move {
            let body = b"{ \"odd\" : 1.0e2,\t\"choices\":[ ] }";
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nX-Odd: one\r\nx-odd: two\r\nx-request-id: 7\r\nopenai-processing-ms: 3\r\nconnection: x-hop\r\nx-hop: 1\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            log.lock().push(message);
            Some(([head.as_bytes(), body].concat(), Close::Keep))
        }
    });
    (gateway, seen)
}

#[tokio::test]
async fn unknown_fields_and_headers_survive_both_ways_byte_for_byte() {
    let (gateway, seen) = mirror().await;
    let body = "{ \"model\":\"m\",  \"messages\":[{\"role\":\"user\",\"content\":\"\\u0041\"}], \"temperature\":0.0,\r\n\"odd\":[1.10,null,{}] , \"chat_template_kwargs\":{\"b\":1,\"a\":2}}";
    let ask = Request::post_bytes(CHAT, body)
        .header("X-Custom", "Value; with=marks")
        .header("x-many", "1")
        .header("x-many", "2")
        .header("authorization", "Bearer secret")
        .header("accept-encoding", "gzip, br")
        .header("x-tenant", "acme")
        .header("connection", "keep-alive, x-drop")
        .header("x-drop", "1")
        .header("te", "trailers")
        .header("user-agent", "test/1");
    let answer = gateway.send(&ask).await;
    assert_eq!(answer.text(), "{ \"odd\" : 1.0e2,\t\"choices\":[ ] }");
    let odd: Vec<&str> = answer
        .headers
        .iter()
        .filter(|(name, _)| name == "x-odd")
        .map(|(_, value)| &**value)
        .collect();
    assert_eq!(odd, ["one", "two"]);
    assert_eq!(answer.header("openai-processing-ms"), "3");
    assert_eq!(answer.header("x-hop"), "", "hop by hop");

    let message = seen.lock().remove(0);
    assert_eq!(String::from_utf8_lossy(&message.body), body);
    assert_eq!(message.header("x-custom"), "Value; with=marks");
    assert_eq!(message.headers("x-many"), ["1", "2"]);
    assert_eq!(message.header("authorization"), "Bearer secret");
    assert_eq!(message.header("user-agent"), "test/1");
    assert_eq!(message.header("x-tenant"), "", "the backend never sees it");
    assert_eq!(message.header("x-drop"), "", "hop by hop");
    assert_eq!(message.header("te"), "", "hop by hop");
    let encoding = message.header("accept-encoding");
    assert!(encoding.is_empty() || encoding == "identity", "{encoding}");
    assert!(
        message
            .head
            .starts_with("POST /v1/chat/completions HTTP/1.1"),
        "{}",
        message.head
    );
}

#[tokio::test]
async fn a_compressed_request_is_passed_on_as_it_is() {
    let (gateway, seen) = mirror().await;
    let bytes: Vec<u8> = (0..=255).cycle().take(3_000).collect();
    let ask = Request::post_bytes(CHAT, bytes.clone()).header("content-encoding", "gzip");
    let answer = gateway.send(&ask).await;
    assert_eq!((answer.status, answer.source()), (200, "fwd=bypass"));
    let message = seen.lock().remove(0);
    assert_eq!(message.body, bytes);
    assert_eq!(message.header("content-encoding"), "gzip");
}

#[tokio::test]
async fn what_the_gateway_does_not_read_is_passed_on_whole() {
    let (gateway, seen) = mirror().await;
    let ask = Request::post_bytes("/v1/audio/transcriptions?x=%20y&z", vec![0xff; 100_000]);
    assert_eq!(gateway.send(&ask).await.status, 200);
    let message = seen.lock().remove(0);
    assert!(
        message
            .head
            .starts_with("POST /v1/audio/transcriptions?x=%20y&z HTTP/1.1"),
        "{}",
        message.head
    );
    assert_eq!(message.body, vec![0xff; 100_000]);
}

#[tokio::test]
async fn the_configured_credential_takes_the_place_of_the_callers() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |config| {
        config.backend_key = "sk-ours".parse().expect("a key");
    })
    .await;
    answer_all(upstream, |message: Message| async move {
        let body = json!({ "authorization": message.headers("authorization"), "api-key": message.header("api-key") }).to_string();
        Some((
            format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .into(),
            Close::Keep,
        ))
    });
    let ask = Request::chat(&chat("x"))
        .header("authorization", "Bearer sk-theirs")
        .header("api-key", "sk-theirs");
    let answer: Value = gateway.send(&ask).await.json();
    assert_eq!(answer["authorization"], json!(["Bearer sk-ours"]));
    assert_eq!(answer["api-key"], "", "never mixed");
}

fn chunked(head: &str, body: &[u8], piece: usize) -> Vec<u8> {
    let mut bytes = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: gateway\r\n{head}transfer-encoding: chunked\r\n\r\n"
    )
    .into_bytes();
    for piece in body.chunks(piece) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[tokio::test]
async fn a_chunked_upload_is_the_same_request() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let body = chat("Hello").to_string();
    gateway.send(&Request::post_bytes(CHAT, body.clone())).await;
    let mut connection = gateway.connect().await;
    connection.say(&chunked("", body.as_bytes(), 7)).await;
    assert_eq!(connection.answer().await.source(), "hit; detail=exact");
}

async fn expects_413(mut connection: Connection, bytes: &[u8]) {
    connection.say(bytes).await;
    let answer = connection.answer().await;
    assert_eq!(answer.status, 413);
    assert_eq!(answer.json()["error"]["code"], "body_too_large");
    assert!(answer.ended_after < Duration::from_secs(5));
}

#[tokio::test]
async fn a_body_over_the_limit_is_told_so_with_and_without_a_length() {
    let gateway =
        Gateway::before_stub(|config| config.body_limit = "64KiB".parse().expect("a size")).await;
    let large = chat(&"x".repeat(3 << 20)).to_string();
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: gateway\r\ncontent-length: {}\r\n\r\n",
        large.len()
    );
    expects_413(
        gateway.connect().await,
        &[head.as_bytes(), large.as_bytes()].concat(),
    )
    .await;
    expects_413(
        gateway.connect().await,
        &chunked("", large.as_bytes(), 10_000),
    )
    .await;
    // Who asks first is told without sending.
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: gateway\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        large.len()
    );
    expects_413(gateway.connect().await, head.as_bytes()).await;
    gateway.quiet().await;
    assert_eq!(gateway.chat(&chat("Hello")).await.status, 200);
}

#[tokio::test]
async fn a_body_whose_framing_is_broken_is_told_so() {
    let gateway = Gateway::before_stub(|_| {}).await;
    for path in [CHAT, "/v1/files"] {
        let mut connection = gateway.connect().await;
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: gateway\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nno size\r\n"
        );
        connection.say(request.as_bytes()).await;
        let answer = connection.answer().await;
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert_eq!(answer.json()["error"]["code"], "request_body", "{path}");
    }
    gateway.quiet().await;
    // It was there to be told: it did not leave.
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("llm_front_callers_left_total", &[]), 0.0);
    assert_eq!(
        metrics.sum("llm_front_requests_total", &["code=\"400\""]),
        2.0
    );
}

#[tokio::test]
async fn large_bodies_within_the_limit_pass() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let ask = chat(&"word ".repeat(1 << 19));
    assert_eq!(gateway.chat(&ask).await.status, 200);
    assert_eq!(gateway.chat(&ask).await.source(), "hit; detail=exact");
}

#[tokio::test]
async fn who_waits_for_100_continue_is_told_to_go_on() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let body = chat("Hello").to_string();
    let mut connection = gateway.connect().await;
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: gateway\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.say(head.as_bytes()).await;
    assert!(connection.head().await);
    assert_eq!(connection.status(), 100);
    connection.say(body.as_bytes()).await;
    assert_eq!(connection.answer().await.status, 200);
}

#[tokio::test]
async fn a_body_that_falls_silent_is_given_up_with_408() {
    let gateway =
        Gateway::before_stub(|config| config.body_timeout = "200ms".parse().expect("a span")).await;
    let mut connection = gateway.connect().await;
    connection
        .say(
            format!("POST {CHAT} HTTP/1.1\r\nhost: gateway\r\ncontent-length: 100\r\n\r\n{{\"mod")
                .as_bytes(),
        )
        .await;
    let answer = connection.answer().await;
    assert_eq!(answer.status, 408);
    assert!(
        answer.head_after >= Duration::from_millis(198),
        "{:?}",
        answer.head_after
    );
    assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
}

#[tokio::test]
async fn each_event_reaches_the_caller_at_once_and_unmerged() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    for temperature in [0, 1] {
        let ask = Request::chat(&with(
            stream(chat("Hello")),
            json!({ "temperature": temperature }),
        ));
        let mut connection = gateway.connect().await;
        connection.ask(&ask).await;
        let mut peer = upstream.accept().await;
        peer.request().await;
        peer.begin_stream().await;
        assert!(connection.head().await);
        for n in 0..5 {
            // The next one is only sent when this one has come.
            peer.chunk(&format!(": keep-alive {n}\n\n")).await;
            let frame = connection.frame().await.expect("a comment passes");
            assert_eq!(frame.bytes, format!(": keep-alive {n}\n\n").as_bytes());
            peer.chunk(&format!("data: {{\"choices\":[],\"n\":{n}}}\n\n"))
                .await;
            let frame = connection.frame().await.expect("an event");
            assert_eq!(
                frame.bytes,
                format!("data: {{\"choices\":[],\"n\":{n}}}\n\n").as_bytes()
            );
        }
        peer.say("0\r\n\r\n").await;
        assert_eq!(connection.frame().await.expect_err("the end"), End::Clean);
    }
}

#[tokio::test]
async fn what_was_read_as_json_goes_on_as_json() {
    let (gateway, seen) = mirror().await;
    const JSON: &str = "application/json; charset=utf-8";
    for (content_type, sent_as) in [
        ("application/x-www-form-urlencoded", "application/json"),
        (JSON, JSON),
    ] {
        let body = with(chat(content_type), json!({ "max_tokens": 3 })).to_string();
        let ask = format!(
            "POST {CHAT} HTTP/1.1\r\nhost: gateway\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut connection = gateway.connect().await;
        connection.say(ask.as_bytes()).await;
        assert!(connection.head().await);
        connection.rest().await;
        let message = seen.lock().remove(0);
        let sent = message.headers("content-type");
        assert_eq!(sent, [sent_as]);
        assert_eq!(String::from_utf8_lossy(&message.body), body);
    }
}

#[tokio::test]
async fn generate_is_the_gateways_own_whatever_the_method() {
    let (gateway, seen) = mirror().await;
    let answer = gateway.get("/v1/generate").await;
    assert_eq!(answer.status, 405);
    let error = &answer.json()["error"];
    assert_eq!(error["message"], "/v1/generate takes POST, not GET");
    assert!(seen.lock().is_empty(), "no backend knows it");
}

#[tokio::test]
async fn a_backend_of_the_old_version_does_not_change_how_answers_end() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    answer_all(upstream, |message: Message| async move {
        let whole = String::from_utf8_lossy(&message.body).contains("whole");
        let answer = if whole {
            "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}"
        } else {
            "{\"choices\":[{\"index\":0,\"mess"
        };
        // Without a length: the end of the connection is the end of the answer, or of the server.
        let head = "HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n";
        Some((format!("{head}{answer}").into(), Close::After))
    });
    for (question, end) in [("whole", End::Clean), ("cut", End::Cut)] {
        for temperature in [0, 1] {
            let mut connection = gateway.connect().await;
            let ask = with(chat(question), json!({ "temperature": temperature }));
            connection.ask(&Request::chat(&ask)).await;
            assert!(connection.head().await);
            assert_eq!(connection.header("transfer-encoding"), "chunked");
            assert_eq!(connection.rest().await.end, end, "{question} {temperature}");
        }
    }
}

#[tokio::test]
async fn browsers_of_different_origins_never_share_what_allows_them_in() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    answer_all(upstream, |message: Message| async move {
        let body = json!({ "choices": [{ "index": 0, "message": { "content": "x" }, "finish_reason": "stop" }] }).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nvary: Origin\r\naccess-control-allow-origin: {}\r\ncontent-length: {}\r\n\r\n",
            message.header("origin"),
            body.len()
        );
        Some((format!("{head}{body}").into(), Close::Keep))
    });
    for source in ["fwd=miss", "hit; detail=exact"] {
        for origin in ["http://a.example", "http://b.example"] {
            let ask = Request::chat(&chat("Hello")).header("origin", origin);
            let answer = gateway.send(&ask).await;
            assert_eq!(answer.source(), source);
            assert_eq!(answer.header("access-control-allow-origin"), origin);
        }
    }
}
