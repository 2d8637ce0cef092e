//! Hits need nothing but memory: neither a place at the backend nor a backend.

use llm_backend::stub::Settings;
use std::time::Duration;
use tests::{Gateway, Request, chat, stream};

#[tokio::test]
async fn a_hit_is_served_at_once_while_the_backend_is_saturated() {
    let settings = Settings::instant()
        .pace(Duration::from_millis(20))
        .tokens(2_000);
    let gateway = Gateway::before_stub_of(settings, |config| config.max_upstream = 1).await;
    let hot = tests::model("stub?tokens=3&pace=0ms", "hot");
    assert_eq!(gateway.chat(&hot).await.status, 200);
    gateway.quiet().await;
    let holder = gateway.open(&Request::chat(&stream(chat("slow")))).await;
    let mut waiter = gateway.connect().await;
    waiter.ask(&Request::chat(&chat("waits"))).await;
    let mut connection = gateway.connect().await;
    let mut best = Duration::MAX;
    for _ in 0..50 {
        connection.ask(&Request::chat(&hot)).await;
        let answer = connection.answer().await;
        assert_eq!(answer.source(), "hit; detail=exact");
        best = best.min(answer.ended_after);
    }
    // Unoptimised, on a busy machine; in one poll, as the contract shows.
    assert!(best < Duration::from_millis(10), "{best:?}");
    drop((holder, waiter));
}

#[tokio::test]
async fn hits_are_served_when_the_backend_is_dead() {
    let mut gateway = Gateway::before_stub(|_| {}).await;
    let asks = [chat("a"), stream(chat("b"))];
    for ask in &asks {
        assert_eq!(gateway.chat(ask).await.source(), "fwd=miss");
    }
    gateway.kill_backend();
    for ask in &asks {
        let hit = gateway.chat(ask).await;
        assert_eq!((hit.status, hit.source()), (200, "hit; detail=exact"));
    }
    let miss = gateway.chat(&chat("c")).await;
    assert!((502..=503).contains(&miss.status), "{}", miss.status);
}

#[tokio::test]
async fn an_answer_is_served_until_its_life_is_over_and_not_longer() {
    let gateway =
        Gateway::before_stub(|config| config.cache_ttl = "500ms".parse().expect("a span")).await;
    assert_eq!(gateway.chat(&chat("a")).await.source(), "fwd=miss");
    assert_eq!(gateway.chat(&chat("a")).await.source(), "hit; detail=exact");
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(gateway.chat(&chat("a")).await.source(), "fwd=miss");
}
