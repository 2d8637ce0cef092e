//! Rephrased requests, when asked for.

use serde_json::{Value, json};
use tests::{Gateway, chat, stream, with};

async fn gateway(threshold: &str) -> Gateway {
    Gateway::before_stub(|config| {
        config.semantic = "hashed".parse().expect("an embedder");
        config.threshold = threshold.parse().expect("a threshold");
    })
    .await
}

const ASKED: &str = "please summarize the checkout incident of 12 May for the team";
const REPHRASED: &str = "for the team please summarize the checkout incident of 12 May";

#[tokio::test]
async fn a_paraphrase_is_a_hit_and_says_how_close_it_was() {
    let gateway = gateway("0.7").await;
    let first = gateway.chat(&chat(ASKED)).await;
    let second = gateway.chat(&chat(REPHRASED)).await;
    let source = second.source().to_owned();
    let similarity: f32 = source
        .strip_prefix("hit; detail=\"semantic; sim=")
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or_else(|| panic!("{source}"))
        .parse()
        .expect("a number");
    assert!((0.7..1.0).contains(&similarity), "{similarity}");
    assert_eq!(first.body(), second.body());
    assert!(!second.header("age").is_empty());
    assert_eq!(gateway.stub().stats().generations, 1);
    // The same request is still an exact hit, and the other form of a similar one is served too.
    assert_eq!(
        gateway.chat(&chat(ASKED)).await.source(),
        "hit; detail=exact"
    );
    let streamed = gateway.chat(&stream(chat(REPHRASED))).await;
    assert!(
        streamed.source().starts_with("hit; detail=\"semantic"),
        "{}",
        streamed.source()
    );
    assert_eq!(streamed.events().last().map(String::as_str), Some("[DONE]"));
    let metrics = gateway.metrics().await;
    assert_eq!(
        metrics.sum("llm_front_requests_total", &["source=\"semantic_hit\""]),
        2.0
    );
}

async fn is_never_a_hit(change: impl Fn(Value) -> Value, text: &str) {
    let gateway = gateway("0.5").await;
    gateway.chat(&chat(ASKED)).await;
    let answer = gateway.chat(&change(chat(text))).await;
    assert!(
        !answer.source().starts_with("hit"),
        "{text}: {}",
        answer.source()
    );
    assert_eq!(gateway.stub().stats().requests, 2);
}

#[tokio::test]
async fn another_number_is_another_question() {
    is_never_a_hit(
        |ask| ask,
        "for the team please summarize the checkout incident of 13 May",
    )
    .await;
}

#[tokio::test]
async fn a_negation_is_another_question() {
    is_never_a_hit(
        |ask| ask,
        "please do not summarize the checkout incident of 12 May for the team",
    )
    .await;
}

#[tokio::test]
async fn sampled_requests_and_other_parameters_never_match() {
    for more in [
        json!({ "temperature": 1 }),
        json!({ "max_tokens": 7 }),
        json!({ "model": "other" }),
        json!({ "tools": [{ "type": "function", "function": { "name": "f" } }] }),
    ] {
        is_never_a_hit(|ask| with(ask, more.clone()), REPHRASED).await;
    }
}

#[tokio::test]
async fn other_tenants_never_match() {
    let gateway = gateway("0.5").await;
    let ask =
        |text: &str, tenant: &str| tests::Request::chat(&chat(text)).header("x-tenant", tenant);
    gateway.send(&ask(ASKED, "a")).await;
    assert_eq!(
        gateway.send(&ask(REPHRASED, "b")).await.source(),
        "fwd=miss"
    );
    assert!(
        gateway
            .send(&ask(REPHRASED, "a"))
            .await
            .source()
            .starts_with("hit")
    );
}

#[tokio::test]
async fn unless_asked_for_only_equal_requests_match() {
    let gateway = Gateway::before_stub(|_| {}).await;
    gateway.chat(&chat(ASKED)).await;
    assert_eq!(gateway.chat(&chat(REPHRASED)).await.source(), "fwd=miss");
}

/// A chat whose last message is `last`, after a greeting and its answer.
fn after(user: &str, assistant: &str, last: &str) -> Value {
    let mut ask = chat(last);
    let last = ask["messages"][0].clone();
    ask["messages"] = json!([
        { "role": "user", "content": user },
        { "role": "assistant", "content": assistant },
        last,
    ]);
    ask
}

async fn with_history(history: &str) -> Gateway {
    Gateway::before_stub(|config| {
        config.semantic = "hashed".parse().expect("an embedder");
        config.threshold = "0.6".parse().expect("a threshold");
        config.history = history.parse().expect("a word");
    })
    .await
}

#[tokio::test]
async fn a_message_that_stands_by_itself_matches_after_another_history_where_that_is_allowed() {
    let boils = "at what temperature does water boil at sea level";
    let again = "at sea level at what temperature does water boil";
    for (history, hits) in [("equal", false), ("guarded", true)] {
        let gateway = with_history(history).await;
        gateway.chat(&chat(boils)).await;
        let ask = after("hello there", "Hello! What can I do?", again);
        let answer = gateway.chat(&ask).await;
        let source = answer.source();
        assert_eq!(
            source.starts_with("hit; detail=\"semantic"),
            hits,
            "{history}: {source}"
        );
    }
}

#[tokio::test]
async fn a_message_that_leans_on_its_history_never_matches_after_another_one() {
    let gateway = with_history("guarded").await;
    let ask = |city: &str| {
        let answer = format!("{city} is a city in Europe.");
        after(
            &format!("tell us about {city}"),
            &answer,
            "how many people live there",
        )
    };
    gateway.chat(&ask("Rome")).await;
    assert_eq!(gateway.chat(&ask("Oslo")).await.source(), "fwd=miss");
    // Instructions are no history: they must be equal.
    let mut instructed = ask("Rome");
    let messages = instructed["messages"].as_array_mut().expect("messages");
    messages.insert(
        0,
        json!({ "role": "system", "content": "Answer in French." }),
    );
    assert_eq!(gateway.chat(&instructed).await.source(), "fwd=miss");
}
