//! `POST /v1/cache/feedback`: whoever got a bad answer says so, and nobody gets it again.

use serde_json::{Value, json};
use tests::{Answer, Gateway, Request, chat, stream};

const ASKED: &str = "please summarize the checkout incident of 12 May for the team";
const REPHRASED: &str = "for the team please summarize the checkout incident of 12 May";
const PATH: &str = "/v1/cache/feedback";
const NAME: &str = "x-llm-front-answer";

async fn gateway() -> Gateway {
    Gateway::before_stub(|config| {
        config.semantic = "hashed".parse().expect("an embedder");
        config.threshold = "0.7".parse().expect("a threshold");
    })
    .await
}

fn verdict(answer: &Answer, verdict: &str) -> Value {
    json!({ "answer": answer.header(NAME), "verdict": verdict })
}

async fn removed(gateway: &Gateway, answer: &Answer) -> bool {
    let told = gateway.post(PATH, &verdict(answer, "bad")).await;
    assert_eq!(told.status, 200, "{}", told.text());
    let told: Value = serde_json::from_str(&told.text()).expect("JSON");
    assert_eq!(told["answer"], answer.header(NAME));
    told["removed"].as_bool().expect("yes or no")
}

#[tokio::test]
async fn a_bad_similar_answer_is_gone_and_its_pair_never_matches_again() {
    let gateway = gateway().await;
    gateway.chat(&chat(ASKED)).await;
    let similar = gateway.chat(&chat(REPHRASED)).await;
    assert!(similar.source().starts_with("hit; detail=\"semantic"));
    assert!(removed(&gateway, &similar).await);
    // Neither the bad answer, nor a new one to the same request, nor the other way round.
    assert_eq!(gateway.chat(&chat(REPHRASED)).await.source(), "fwd=miss");
    assert_eq!(gateway.chat(&chat(ASKED)).await.source(), "fwd=miss");
    for asked in [ASKED, REPHRASED] {
        let again = gateway.chat(&chat(asked)).await;
        assert_eq!(again.source(), "hit; detail=exact");
    }
    assert_eq!(gateway.stub().stats().generations, 3);
    // Somebody else's wording still finds one of them.
    let third = "the checkout incident of 12 May please summarize for the team";
    let third = gateway.chat(&chat(third)).await;
    assert!(
        third.source().starts_with("hit; detail=\"semantic"),
        "{}",
        third.source()
    );
    let metrics = gateway.metrics().await;
    let series = "llm_front_semcache_feedback_total";
    assert_eq!(
        metrics.sum(series, &["verdict=\"bad\"", "answer=\"semantic\""]),
        1.0
    );
    let heard = metrics.sum(
        "llm_front_requests_total",
        &["source=\"gateway\"", "code=\"200\""],
    );
    assert_eq!(heard, 1.0);
}

#[tokio::test]
async fn a_bad_answer_to_the_same_request_and_a_bad_fresh_one_are_gone_too() {
    let gateway = gateway().await;
    let fresh = gateway.chat(&chat(ASKED)).await;
    let exact = gateway.chat(&chat(ASKED)).await;
    let streamed = gateway.chat(&stream(chat(ASKED))).await;
    assert_eq!(exact.source(), "hit; detail=exact");
    assert_eq!(streamed.header(NAME), exact.header(NAME));
    assert_ne!(fresh.header(NAME), exact.header(NAME));
    assert!(removed(&gateway, &streamed).await);
    // Said again, there is nothing left to remove, and it is no mistake either.
    assert!(!removed(&gateway, &exact).await);
    let fresh = gateway.chat(&chat(ASKED)).await;
    assert_eq!(fresh.source(), "fwd=miss");
    assert!(removed(&gateway, &fresh).await);
    assert_eq!(gateway.chat(&chat(ASKED)).await.source(), "fwd=miss");
    // The name of an answer that has gone is not that of the one in its place.
    assert!(!removed(&gateway, &exact).await);
    assert_eq!(
        gateway.chat(&chat(ASKED)).await.source(),
        "hit; detail=exact"
    );
}

#[tokio::test]
async fn what_was_made_of_a_bad_answer_goes_with_it() {
    let gateway = gateway().await;
    let first = gateway.chat(&chat(ASKED)).await;
    gateway.chat(&chat(REPHRASED)).await;
    assert!(removed(&gateway, &first).await);
    assert_eq!(gateway.chat(&chat(REPHRASED)).await.source(), "fwd=miss");
}

#[tokio::test]
async fn a_good_answer_is_counted_and_stays() {
    let gateway = gateway().await;
    gateway.chat(&chat(ASKED)).await;
    let exact = gateway.chat(&chat(ASKED)).await;
    let told = gateway.post(PATH, &verdict(&exact, "good")).await;
    assert_eq!(told.status, 200);
    assert!(told.text().contains("\"removed\":false"), "{}", told.text());
    assert_eq!(
        gateway.chat(&chat(ASKED)).await.source(),
        "hit; detail=exact"
    );
}

#[tokio::test]
async fn another_tenants_answer_is_as_unknown_as_one_that_never_was() {
    let gateway = gateway().await;
    let ask = |tenant: &str| Request::chat(&chat(ASKED)).header("x-tenant", tenant);
    gateway.send(&ask("a")).await;
    let mine = gateway.send(&ask("a")).await;
    let report = |name: &str, tenant: &str| {
        let body = json!({ "answer": name, "verdict": "bad" });
        Request::post(PATH, &body).header("x-tenant", tenant)
    };
    let theirs = gateway.send(&report(mine.header(NAME), "b")).await;
    let never = gateway.send(&report(&"A".repeat(75), "b")).await;
    assert_eq!((theirs.status, never.status), (404, 404));
    assert_eq!(theirs.text(), never.text());
    assert!(
        theirs.text().contains("unknown_answer"),
        "{}",
        theirs.text()
    );
    // It is still there, and its own tenant may say so.
    assert_eq!(gateway.send(&ask("a")).await.source(), "hit; detail=exact");
    assert_eq!(
        gateway.send(&report(mine.header(NAME), "a")).await.status,
        200
    );
    assert_eq!(gateway.send(&ask("a")).await.source(), "fwd=miss");
}

#[tokio::test]
async fn what_cannot_be_understood_is_refused_with_what_to_write() {
    let gateway = gateway().await;
    for body in [
        "",
        "no JSON",
        "[]",
        "{}",
        r#"{"answer": 1, "verdict": "bad"}"#,
    ] {
        let told = gateway.send(&Request::post_bytes(PATH, body)).await;
        assert_eq!(told.status, 400, "{body}");
        assert!(
            told.text().contains("invalid_request_error"),
            "{}",
            told.text()
        );
        assert!(told.text().contains("verdict"), "{}", told.text());
    }
    assert_eq!(gateway.get(PATH).await.status, 405);
}

#[tokio::test]
async fn where_nothing_similar_is_matched_answers_have_no_name_and_the_path_is_the_backends() {
    let gateway = Gateway::before_stub(|_| {}).await;
    for _ in 0..2 {
        assert_eq!(gateway.chat(&chat(ASKED)).await.header(NAME), "");
    }
    let before = gateway.stub().stats().requests;
    let body = json!({ "answer": "a", "verdict": "bad" });
    let told = gateway.post(PATH, &body).await;
    assert!(told.header("cache-status").contains("fwd=bypass"));
    assert!(!told.text().contains("unknown_answer"));
    assert!(gateway.stub().stats().requests >= before);
    assert!(!gateway.metrics().await.has("llm_front_semcache"));
}
