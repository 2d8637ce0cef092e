//! What is counted against `--cache-bytes` is what the cache really takes.
#![cfg(target_os = "linux")]

use serde_json::json;
use tests::binary::Process;
use tests::{Close, Connection, Message, Metrics, Request, Upstream, answer_all, chat, with};

/// Answers that are kept.
const ANSWERS: usize = 5_000;
/// Connections that ask at one time.
const LANES: usize = 8;

/// A small answer with headers as a server behind some proxies sends them.
fn answer() -> Vec<u8> {
    let body = json!({
        "id": "1", "object": "chat.completion", "model": "m",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "Hi" }, "finish_reason": "stop" }],
    })
    .to_string();
    let mut head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        body.len()
    );
    for n in 0..40 {
        head.push_str(&format!("x-of-a-proxy-{n}: value-{n:020}\r\n"));
    }
    format!("{head}\r\n{body}").into()
}

/// Asks `count` different questions, each `LANES` of them at one time.
async fn ask(process: &Process, from: usize, count: usize, temperature: u32) {
    let address = process.address;
    let lanes = (0..LANES).map(|lane| {
        tokio::spawn(async move {
            let mut connection = Connection::open(address).await;
            for n in (from..from + count).skip(lane).step_by(LANES) {
                let ask = with(
                    chat(&format!("question {n}")),
                    json!({ "temperature": temperature }),
                );
                connection.ask(&Request::chat(&ask)).await;
                let answer = connection.answer().await;
                assert_eq!(answer.status, 200, "{answer:?}");
            }
        })
    });
    for lane in lanes.collect::<Vec<_>>() {
        lane.await.expect("no panic");
    }
}

async fn metric(process: &Process, name: &str) -> f64 {
    let answer = Request::new("GET", "/metrics").send(process.address).await;
    Metrics::new(answer.text()).value(name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_answers_with_many_headers_take_what_is_counted_for_them() {
    let upstream = Upstream::start().await;
    let url = upstream.url();
    answer_all(upstream, |_: Message| async {
        Some((answer(), Close::Keep))
    });
    let process = Process::listen(["--backend", &url, "--workers", "2"]).await;
    // What serving takes by itself: nothing of this is kept.
    ask(&process, 0, 1_000, 1).await;
    assert_eq!(metric(&process, "llm_front_cache_entries").await, 0.0);
    let before = process.resident();
    ask(&process, 0, ANSWERS, 0).await;
    let grown = process.resident().saturating_sub(before);
    let entries = metric(&process, "llm_front_cache_entries").await;
    let counted = metric(&process, "llm_front_cache_bytes").await;
    assert_eq!(entries, ANSWERS as f64);
    let grown = grown as f64;
    assert!(
        grown <= 3.0 * counted,
        "{grown} bytes more are held, {counted} are counted"
    );
}
