//! Where the time of a request goes: `Server-Timing` for the caller, histograms a stage for the operator.

use std::collections::BTreeMap;
use tests::{Answer, Gateway, chat, model, stream};

/// The stages an answer tells of, in milliseconds.
fn stages(answer: &Answer) -> BTreeMap<String, f64> {
    let timing = answer.header("server-timing");
    let entries = timing.split(", ").map(|entry| {
        let (stage, millis) = entry.split_once(";dur=").expect("a stage and its time");
        (stage.to_owned(), millis.parse().expect("milliseconds"))
    });
    entries.collect()
}

#[tokio::test]
async fn an_answer_says_how_long_each_stage_took() {
    let gateway = Gateway::before_stub(|_| {}).await;
    let ask = || model("stub?delay=20ms", "a");
    let miss = stages(&gateway.chat(&ask()).await);
    assert!(
        miss.contains_key("reading") && miss.contains_key("queue"),
        "{miss:?}"
    );
    let backend = miss.get("backend").copied().unwrap_or_default();
    assert!(backend >= 20.0, "{miss:?}");
    let hit = stages(&gateway.chat(&ask()).await);
    assert!(
        hit.contains_key("cache") && !hit.contains_key("backend"),
        "{hit:?}"
    );
    let streamed = stages(&gateway.chat(&stream(chat("b"))).await);
    assert!(streamed.contains_key("backend"), "{streamed:?}");
}

#[tokio::test]
async fn the_stages_add_up_to_the_whole() {
    let gateway = Gateway::before_stub(|_| {}).await;
    for text in ["a", "b", "a", "c"] {
        gateway.chat(&chat(text)).await;
        gateway.chat(&stream(chat(text))).await;
    }
    let metrics = gateway.metrics().await;
    let whole = metrics.sum("llm_front_request_duration_seconds_sum", &[]);
    let parts = metrics.sum("llm_front_stage_duration_seconds_sum", &[]);
    assert!(
        whole > 0.0 && (whole - parts).abs() < 1e-9 * 8.0,
        "{whole} {parts}"
    );
    assert_eq!(
        metrics.sum("llm_front_request_duration_seconds_count", &[]),
        8.0
    );
}
