//! What goes wrong upstream is told as what it is, and never kept.

use llm_backend::stub::Settings;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tests::{
    Answer, Close, Dice, End, Gateway, Message, Request, Upstream, answer_all, chat, model, stream,
    with,
};
use tokio::task::JoinSet;

/// How many faults run side by side.
const AT_ONCE: u64 = 4;

fn stub() -> Settings {
    Settings::instant()
}

#[tokio::test]
async fn events_that_came_before_a_cut_reach_the_caller_who_then_sees_it_break() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    for temperature in [0, 1] {
        for round in 0..10 {
            let ask = with(
                stream(chat(&format!("{round}"))),
                json!({ "temperature": temperature }),
            );
            let (answer, ()) = tokio::join!(gateway.chat(&ask), async {
                let mut peer = upstream.accept().await;
                peer.request().await;
                // In one piece: the gateway reads the events and the end at the same time.
                peer.say("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\ndata: 3\n\n\r\n").await;
            });
            assert_eq!((answer.status, answer.end), (200, End::Cut), "{answer:?}");
            let events = answer.events();
            assert_eq!(
                events.len(),
                4,
                "temperature {temperature}, round {round}: {events:?}"
            );
            assert_eq!(events[..3], ["1", "2", "3"]);
            // The last one says why.
            assert!(events[3].contains("\"code\":\"cut\""), "{}", events[3]);
        }
    }
    gateway.quiet().await;
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.value("llm_front_cache_entries"), 0.0);
    assert_eq!(metrics.sum("llm_front_answers_cut_total", &["chat"]), 20.0);
}

/// A fault of chance, as the stub's model name says it.
fn fault(dice: &mut Dice) -> String {
    let tokens = 1 + dice.below(6);
    let mut name = format!("stub?tokens={tokens}");
    if dice.once_in(3) {
        name.push_str(&format!("&split={}", 1 + dice.below(50)));
    }
    for flag in ["comments=1", "crlf=1", "done=0"] {
        if dice.once_in(5) {
            name.push_str(&format!("&{flag}"));
        }
    }
    let at = dice.below(tokens + 5);
    name.push_str(&match dice.below(10) {
        0..=3 => format!("&cut={at}"),
        4 => format!("&error_event={at}"),
        5 => "&finish=length".to_owned(),
        6 => format!(
            "&finish={}",
            dice.pick(&["content_filter", "error", "abort", "tool_calls"])
        ),
        7 => format!(
            "&status={}",
            dice.pick(&[400, 401, 404, 409, 429, 500, 502, 503])
        ),
        8 => "&drop=1".to_owned(),
        _ => String::new(),
    });
    name
}

/// Whether an answer is whole: what the gateway may keep.
fn is_whole(answer: &Answer) -> bool {
    let text = answer.text();
    let finished = [
        "\"finish_reason\":\"stop\"",
        "\"finish_reason\":\"tool_calls\"",
    ];
    answer.status == 200
        && answer.end == End::Clean
        && finished.iter().any(|reason| text.contains(reason))
        && !text.contains("\"error\":")
}

async fn one_fault(gateway: &Gateway, seed: u64) -> bool {
    let mut dice = Dice::new(seed);
    let name = fault(&mut dice);
    let mut ask = model(&name, &format!("question {seed}"));
    if dice.once_in(2) {
        ask = stream(ask);
        if dice.once_in(2) {
            ask = with(ask, json!({ "stream_options": { "include_usage": true } }));
        }
    }
    // What the stub itself does is the truth.
    let truth = gateway.backend().post("/v1/chat/completions", &ask).await;
    let answer = gateway.chat(&ask).await;
    let told = format!(
        "seed {seed}: {ask}\ntruth {}: {:?} {}\nanswer {}: {:?} {}",
        truth.status,
        truth.end,
        truth.text(),
        answer.status,
        answer.end,
        answer.text()
    );
    match (truth.status, truth.end) {
        (0, _) => assert!(
            (500..600).contains(&answer.status),
            "no answer is no answer\n{told}"
        ),
        (status, End::Clean) => {
            assert_eq!((answer.status, answer.end), (status, End::Clean), "{told}");
            assert_eq!(answer.body(), truth.body(), "{told}");
        }
        (_, End::Cut) => {
            let broken = answer.end == End::Cut || answer.status >= 500;
            assert!(broken, "a cut passed off as a clean end\n{told}");
        }
    }
    let again = gateway.chat(&ask).await;
    let kept = again.source() == "hit; detail=exact";
    assert_eq!(kept, is_whole(&truth), "kept\n{told}");
    if kept {
        assert_eq!(again.body(), truth.body(), "{told}");
    }
    kept
}

#[tokio::test]
async fn of_a_thousand_faults_of_chance_none_is_passed_off_as_whole_and_none_is_kept() {
    let gateway = Arc::new(Gateway::before_stub_of(stub(), |_| {}).await);
    let mut tasks = JoinSet::new();
    for lane in 0..AT_ONCE {
        let gateway = gateway.clone();
        tasks.spawn(async move {
            let mut kept = 0;
            for round in 0..1_000 / AT_ONCE {
                kept += u32::from(one_fault(&gateway, lane * 1_000_000 + round).await);
            }
            kept
        });
    }
    let kept: u32 = tasks.join_all().await.into_iter().sum();
    assert!(
        (100..700).contains(&kept),
        "whole answers are among them, and kept: {kept}"
    );
    gateway.quiet().await;
    let entries = gateway.metrics().await.value("llm_front_cache_entries");
    assert_eq!(entries, f64::from(kept));
}

/// A whole answer in one of the framings of HTTP/1.1, and how many bytes of it make it whole.
fn framed(kind: u64) -> Vec<u8> {
    let events = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hé\"},\"finish_reason\":null}]}\n\ndata: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let body = "{\"id\":\"1\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hé\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1,\"total_tokens\":2}}";
    let (content_type, text) = match kind % 2 {
        0 => ("text/event-stream", events),
        _ => ("application/json", body),
    };
    match kind / 2 {
        0 => {
            let mut bytes = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
            );
            for piece in text.split_inclusive('\n') {
                bytes.push_str(&format!("{:x}\r\n{piece}\r\n", piece.len()));
            }
            bytes.push_str("0\r\n\r\n");
            bytes.into()
        }
        _ => format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n{text}",
            text.len()
        )
        .into(),
    }
}

#[tokio::test]
async fn an_answer_cut_at_any_byte_is_broken_for_the_caller_and_is_not_kept() {
    let upstream = Upstream::start().await;
    let gateway = Arc::new(Gateway::before(&upstream.url(), |_| {}).await);
    let server = answer_all(upstream, |message: Message| async move {
        let ask = message.json();
        let mut bytes = framed(ask["framing"].as_u64().expect("a number"));
        bytes.truncate(usize::try_from(ask["cut"].as_u64().expect("a number")).expect("a size"));
        (!bytes.is_empty()).then_some((bytes, Close::After))
    });
    let mut tasks = JoinSet::new();
    for framing in 0..4 {
        let gateway = gateway.clone();
        tasks.spawn(async move {
            let whole = framed(framing).len();
            let mut dice = Dice::new(framing);
            for round in 0..100 {
                // The first rounds around the end, where one byte decides.
                let cut = if round < 12 {
                    whole - round
                } else {
                    1 + dice.below(whole as u64) as usize
                };
                let ask = with(
                    chat("?"),
                    json!({ "framing": framing, "cut": cut, "stream": framing % 2 == 0 }),
                );
                let answer = gateway.chat(&ask).await;
                let clean = answer.status == 200 && answer.end == End::Clean;
                assert_eq!(
                    clean,
                    cut == whole,
                    "framing {framing}, {cut} of {whole}: {answer:?}"
                );
                assert!(
                    clean || answer.status == 200 || answer.status == 502,
                    "{answer:?}"
                );
                let again = gateway.chat(&ask).await;
                assert_eq!(
                    again.source() == "hit; detail=exact",
                    cut == whole,
                    "framing {framing}, {cut} of {whole}"
                );
            }
        });
    }
    tasks.join_all().await;
    gateway.quiet().await;
    assert_eq!(
        gateway.metrics().await.value("llm_front_cache_entries"),
        4.0
    );
    server.abort();
}

/// One choice, whole: with a text before its end.
const EVENTS: [&str; 3] = [
    "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n",
    "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: [DONE]\n\n",
];

/// A gateway in front of a server that answers with the field `answer` of the request, byte for byte, and closes.
async fn parrot() -> (Gateway, tokio::task::JoinHandle<()>) {
    let upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    let server = answer_all(upstream, |message: Message| async move {
        let answer = message.json()["answer"].as_str().expect("text").to_owned();
        Some((answer.into_bytes(), Close::After))
    });
    (gateway, server)
}

fn says(answer: &str, more: Value) -> Value {
    with(with(chat("?"), json!({ "answer": answer })), more)
}

#[tokio::test]
async fn an_answer_that_ends_with_its_connection_is_whole_only_if_its_content_is() {
    let (gateway, _server) = parrot().await;
    let events = EVENTS.concat();
    let body = "{\"id\":\"1\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"}\"},\"finish_reason\":\"stop\"}]}";
    let mut dice = Dice::new(7);
    for (content_type, text) in [
        ("text/event-stream", &*events),
        ("Text/Event-Stream; Charset=UTF-8", &*events),
        ("application/json", body),
    ] {
        let streamed = content_type != "application/json";
        // Up to where the content is whole: of a stream, where its only choice has ended.
        let limit = match streamed {
            true => EVENTS[0].len() + EVENTS[1].len() - 2,
            false => body.len(),
        };
        let mut cuts = vec![EVENTS[0].len(), EVENTS[0].len() + 9, limit - 1];
        cuts.extend((0..20).map(|_| dice.below(limit as u64) as usize));
        for (temperature, cut) in [0, 1]
            .into_iter()
            .flat_map(|t| cuts.iter().map(move |cut| (t, *cut)))
        {
            let told = format!(
                "{content_type}, temperature {temperature}, {cut} of {}",
                text.len()
            );
            let said = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n\r\n{}",
                &text[..cut]
            );
            let ask = says(
                &said,
                json!({ "temperature": temperature, "stream": streamed }),
            );
            let answer = gateway.chat(&ask).await;
            assert_eq!(
                (answer.status, answer.end),
                (200, End::Cut),
                "{told}: {answer:?}"
            );
            assert!(answer.text().starts_with(&text[..cut]), "{told}");
            let last = answer.events().pop().unwrap_or_default();
            assert_eq!(
                last.contains("\"code\":\"cut\""),
                streamed,
                "{told}: {last}"
            );
            assert!(
                !gateway.chat(&ask).await.source().starts_with("hit"),
                "{told}"
            );
        }
        let said = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n\r\n{text}");
        let ask = says(&said, json!({ "stream": streamed }));
        for source in ["fwd=miss", "hit; detail=exact"] {
            let answer = gateway.chat(&ask).await;
            assert_eq!(
                (answer.status, answer.end),
                (200, End::Clean),
                "{content_type}"
            );
            assert_eq!((answer.source(), &*answer.text()), (source, text));
        }
        let sampled = with(ask, json!({ "temperature": 1 }));
        let answer = gateway.chat(&sampled).await;
        assert_eq!((answer.end, &*answer.text()), (End::Clean, text));
    }
    gateway.quiet().await;
    assert_eq!(
        gateway.metrics().await.value("llm_front_cache_entries"),
        3.0
    );
}

/// A stream in chunks: those given, without the last one.
fn open_chunks(content_type: &str, pieces: &[&str]) -> String {
    let mut said = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    for piece in pieces {
        said.push_str(&format!("{:x}\r\n{piece}\r\n", piece.len()));
    }
    said
}

#[tokio::test]
async fn the_reason_of_a_break_is_told_once_and_after_whole_events() {
    let (gateway, _server) = parrot().await;
    let half = &EVENTS[1][..20];
    for content_type in ["text/event-stream", "Text/Event-Stream;charset=utf-8"] {
        for temperature in [0, 1] {
            for pieces in [&[][..], &[EVENTS[0]], &[EVENTS[0], half], &[half]] {
                let said = open_chunks(content_type, pieces);
                let ask = says(&said, json!({ "temperature": temperature, "stream": true }));
                let answer = gateway.chat(&ask).await;
                let told = format!("{content_type} {temperature} {pieces:?}: {answer:?}");
                assert_eq!((answer.status, answer.end), (200, End::Cut), "{told}");
                let text = answer.text();
                let said = pieces.concat();
                let rest = text.strip_prefix(&said).expect("what came is passed on");
                let between = match pieces.last() {
                    Some(last) if *last == half => "\n\n",
                    _ => "",
                };
                let event = rest.strip_prefix(between).expect("an event by itself");
                let event = event.strip_prefix("data: ").expect("an event");
                let event = event.strip_suffix("\n\n").expect("a whole event");
                let event: Value = serde_json::from_str(event).expect("JSON, and nothing more");
                assert_eq!(event["error"]["code"], "cut", "{told}");
            }
        }
    }
    assert_eq!(
        gateway.metrics().await.value("llm_front_cache_entries"),
        0.0
    );
}

#[tokio::test]
async fn a_caller_of_http_1_0_is_told_the_reason_too() {
    let (gateway, _server) = parrot().await;
    for temperature in [0, 1] {
        let said = open_chunks("text/event-stream", &EVENTS[..1]);
        let ask = says(&said, json!({ "temperature": temperature, "stream": true })).to_string();
        let mut connection = gateway.connect().await;
        let head = format!(
            "POST /v1/chat/completions HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            ask.len()
        );
        connection
            .say(&[head.as_bytes(), ask.as_bytes()].concat())
            .await;
        let answer = connection.answer().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.header("transfer-encoding"), "");
        let events = answer.events();
        assert_eq!(events.len(), 2, "{events:?}");
        assert!(events[1].contains("\"code\":\"cut\""), "{}", events[1]);
    }
}

#[tokio::test]
async fn nothing_is_added_to_an_answer_that_ended_well_whoever_broke_before() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    let whole = EVENTS.concat();
    for content_type in ["text/event-stream", "TEXT/event-stream"] {
        let request = Request::chat(&stream(model("m", content_type)));
        // Two share a call that breaks: each is told once.
        let mut callers = Vec::new();
        let mut first = gateway.connect().await;
        first.ask(&request).await;
        callers.push(first);
        let mut peer = upstream.accept().await;
        peer.request().await.expect("the request");
        peer.say(&open_chunks(content_type, &EVENTS[..1])).await;
        callers.push(gateway.open(&request).await);
        drop(peer);
        for caller in &mut callers {
            let answer = caller.answer().await;
            assert_eq!(answer.end, End::Cut);
            assert_eq!(answer.text().matches("\"error\"").count(), 1, "{answer:?}");
            assert_eq!(answer.events().len(), 2, "{answer:?}");
        }
        // The same asked again is whole, and stays so from the cache.
        let (answer, ()) = tokio::join!(gateway.send(&request), async {
            let mut peer = upstream.accept().await;
            peer.request().await.expect("the request again");
            peer.say(&open_chunks(content_type, &EVENTS)).await;
            peer.say("0\r\n\r\n").await;
        });
        let again = gateway.send(&request).await;
        assert_eq!(
            (answer.source(), again.source()),
            ("fwd=miss", "hit; detail=exact")
        );
        for answer in [answer, again] {
            assert_eq!((answer.end, answer.text()), (End::Clean, whole.clone()));
        }
    }
}

async fn is_never_kept(name: &str, ask: impl Fn(Value) -> Value) {
    let gateway = Gateway::before_stub(|_| {}).await;
    for _ in 0..2 {
        let answer = gateway.chat(&ask(model(name, "Hello"))).await;
        assert_eq!(answer.source(), "fwd=miss", "{name}");
    }
    assert_eq!(
        gateway.metrics().await.value("llm_front_cache_entries"),
        0.0
    );
}

#[tokio::test]
async fn what_ran_into_the_token_limit_is_never_kept() {
    is_never_kept("stub", |ask| with(ask, json!({ "max_tokens": 2 }))).await;
    is_never_kept("stub", |ask| stream(with(ask, json!({ "max_tokens": 2 })))).await;
    is_never_kept("stub?finish=length", |ask| ask).await;
}

#[tokio::test]
async fn what_was_filtered_or_told_an_error_is_never_kept() {
    for name in ["stub?finish=content_filter", "stub?error_event=3"] {
        is_never_kept(name, stream).await;
    }
    is_never_kept("stub?finish=content_filter", |ask| ask).await;
}

#[tokio::test]
async fn an_error_event_reaches_the_caller_as_it_is() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let answer = gateway
        .chat(&stream(model("stub?error_event=2", "Hello")))
        .await;
    let events = answer.events();
    assert_eq!((answer.end, events.len()), (End::Clean, 3));
    assert!(events[2].contains("the stub was told to fail"));
}

#[tokio::test]
async fn status_body_and_retry_after_of_a_refusal_survive_in_either_form() {
    let gateway = Gateway::before_stub(|_| {}).await;
    for status in [400, 401, 403, 404, 409, 422, 429, 500, 501, 502, 503, 504] {
        for streamed in [false, true] {
            let name = format!("stub?status={status}&retry_after=7");
            let ask = with(model(&name, "Hello"), json!({ "stream": streamed }));
            let truth = gateway.backend().post("/v1/chat/completions", &ask).await;
            let answer = gateway.chat(&ask).await;
            assert_eq!(answer.status, status);
            assert_eq!(answer.body(), truth.body());
            assert_eq!(answer.header("retry-after"), "7");
            assert_eq!(answer.header("content-type"), "application/json");
        }
    }
}

#[tokio::test]
async fn a_backend_that_is_not_there_is_named_and_counts_as_unavailable() {
    let address = tests::binary::free_address();
    let gateway = Gateway::before(&format!("http://{address}"), |_| {}).await;
    for path in ["/v1/chat/completions", "/v1/other"] {
        let answer = gateway.post(path, &chat("Hello")).await;
        assert_eq!(answer.status, 503);
        assert_eq!(answer.header("retry-after"), "1");
        let message = answer.json()["error"]["message"].clone();
        assert!(
            message
                .as_str()
                .is_some_and(|text| text.contains(&address.to_string())),
            "{message}"
        );
    }
    assert_eq!(gateway.get("/readyz").await.status, 503);
    assert_eq!(gateway.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn an_idle_connection_that_the_server_closed_is_retried_once_and_a_fresh_one_is_not() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    let whole = String::from_utf8(framed(3)).expect("text");
    let sampled = |n: u32| with(chat(&format!("{n}")), json!({ "temperature": 1 }));

    // One answer on a connection that is kept, and closed the moment the next request has come.
    let server = async {
        let mut peer = upstream.accept().await;
        peer.request().await.expect("a request");
        peer.say(&whole).await;
        peer.request()
            .await
            .expect("a request on the kept connection");
        drop(peer);
        let mut peer = upstream.accept().await;
        peer.request().await.expect("the same request again");
        peer.say(&whole).await;
        drop(peer);
        let mut peer = upstream.accept().await;
        peer.request()
            .await
            .expect("a request on a fresh connection");
    };
    let caller = async {
        assert_eq!(gateway.chat(&sampled(1)).await.status, 200);
        assert_eq!(gateway.chat(&sampled(2)).await.status, 200);
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(gateway.chat(&sampled(3)).await.status, 502);
    };
    tokio::join!(server, caller);
    assert_eq!(upstream.connections(), 3);
}

#[tokio::test]
async fn a_get_that_found_an_idle_connection_closed_is_retried() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    let whole = String::from_utf8(framed(3)).expect("text");
    let server = async {
        let mut peer = upstream.accept().await;
        peer.request().await.expect("a request");
        peer.say(&whole).await;
        peer.request()
            .await
            .expect("a request on the kept connection");
        drop(peer);
        let mut peer = upstream.accept().await;
        let again = peer.request().await.expect("the same request again");
        peer.say(&whole).await;
        again
    };
    let caller = async {
        for _ in 0..2 {
            let answer = gateway.get("/v1/models?page=2").await;
            assert_eq!((answer.status, answer.end), (200, End::Clean));
        }
    };
    let (again, ()) = tokio::join!(server, caller);
    assert!(
        again.head.starts_with("GET /v1/models?page=2 "),
        "{}",
        again.head
    );
    assert!(again.body.is_empty());
}

#[tokio::test]
async fn interim_answers_are_not_taken_for_the_answer() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    let ask = chat("Hello");
    let (answer, ()) = tokio::join!(gateway.chat(&ask), async {
        let mut peer = upstream.accept().await;
        peer.request().await;
        peer.say("HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n")
            .await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        peer.say(&String::from_utf8(framed(3)).expect("text")).await;
    });
    assert_eq!((answer.status, answer.end), (200, End::Clean));
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "Hé");
}

#[tokio::test]
async fn an_upstream_that_does_not_speak_http_is_a_bad_gateway() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    let ask = Request::chat(&chat("Hello"));
    let (answer, ()) = tokio::join!(gateway.send(&ask), async {
        let mut peer = upstream.accept().await;
        peer.request().await;
        peer.say("220 mail.example ESMTP\r\n\r\n").await;
    });
    assert_eq!(answer.status, 502);
    assert_eq!(answer.json()["error"]["type"], "server_error");
}
