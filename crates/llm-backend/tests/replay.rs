//! The stub replays a simulated server: under paused time every answer ends when the simulation says.
#![cfg(feature = "replay")]
#![expect(clippy::unwrap_used, reason = "test code")]

use std::time::Duration;

use http::{Request, StatusCode};
use http_body_util::BodyExt;
use llm_backend::RequestBody;
use llm_backend::stub::{Engine, Settings, Stub};
use llm_sim::cost::presets;
use llm_sim::engine::Simulation;
use llm_sim::front::Direct;
use llm_sim::server::{Completion, Server, Vllm, VllmConfig};
use llm_sim::workload::{Arrivals, Length, Workload};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tower::ServiceExt;

fn ask(model: &str, words: u32, tokens: u32, stream: bool) -> Request<RequestBody> {
    let body = json!({
        "model": model,
        "messages": [{ "role": "user", "content": vec!["word"; words as usize].join(" ") }],
        "max_tokens": tokens,
        "stream": stream,
    });
    let body = RequestBody::from(body.to_string());
    Request::post("/v1/chat/completions").body(body).unwrap()
}

fn stub(server: Box<dyn Server>) -> Stub {
    Stub::replay(Settings::default().tokens(u32::MAX), Engine::new(server))
}

/// Milliseconds to the first and to the last byte, for each request.
async fn real(stub: &Stub, workload: &[llm_sim::workload::Request]) -> Vec<(f64, f64)> {
    let start = Instant::now();
    let mut calls = JoinSet::new();
    for request in workload {
        let at = start + Duration::from_secs_f64(request.arrival_ms / 1000.0);
        let (stub, id) = (stub.clone(), request.id);
        // Streams and whole answers alike.
        let ask = ask(
            "stub",
            request.prompt_tokens,
            request.output_tokens,
            id % 2 == 0,
        );
        calls.spawn(async move {
            sleep_until(at).await;
            let response = stub.oneshot(ask).await.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            let first = at.elapsed();
            response.into_body().collect().await.unwrap();
            let ms = |time: Duration| time.as_secs_f64() * 1000.0;
            (id, (ms(first), ms(at.elapsed())))
        });
    }
    let mut times = calls.join_all().await;
    times.sort_by_key(|(id, _)| *id);
    times.into_iter().map(|(_, times)| times).collect()
}

fn workload(rate_rps: f64) -> Vec<llm_sim::workload::Request> {
    let workload = Workload::new("replay", Arrivals::poisson(rate_rps))
        .output(Length::log_normal(60.0, 0.9, 1, 400));
    // tokio's clock ticks in milliseconds.
    let whole = workload.map(|request| llm_sim::workload::Request {
        arrival_ms: request.arrival_ms.ceil(),
        ..request
    });
    whole.take(200).collect()
}

#[tokio::test(start_paused = true)]
async fn every_answer_ends_when_the_simulation_says() {
    for (preset, rate_rps) in [("seed", 14.0), ("a100-llama-3-8b", 30.0)] {
        let preset = presets::find(preset).unwrap();
        let workload = workload(rate_rps);
        let mut done: Vec<Completion> = Vec::new();
        let mut sim = Simulation::new(vec![preset.server(None)], Direct::default());
        sim.run_into(workload.clone(), &mut done);
        done.sort_by_key(|done| done.request.id);
        let times = real(&stub(preset.server(None)), &workload).await;
        for (done, (first, last)) in done.iter().zip(times) {
            // A timer fires at the first tick that is not before its time.
            let late = last - done.e2e_ms();
            assert!(
                (-0.01..=2.0).contains(&late),
                "{}: {late} ms late",
                done.request.id
            );
            if done.request.id % 2 == 0 {
                let late = first - done.ttft_ms();
                assert!(
                    (-0.01..=2.0).contains(&late),
                    "{}: {late} ms late",
                    done.request.id
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_gives_up_its_seat() {
    // One seat.
    let stub = stub(presets::find("seed").unwrap().server(Some(1)));
    let long = tokio::spawn(stub.clone().oneshot(ask("stub", 10, 1000, false)));
    tokio::time::sleep(Duration::from_millis(50)).await;
    long.abort();
    let asked = Instant::now();
    let response = stub
        .clone()
        .oneshot(ask("stub", 10, 2, false))
        .await
        .unwrap();
    response.into_body().collect().await.unwrap();
    // What is left of a step, and two steps.
    assert!(
        asked.elapsed() <= Duration::from_millis(25),
        "{:?}",
        asked.elapsed()
    );
    assert_eq!((stub.stats().cancelled, stub.stats().completed), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn what_can_never_fit_is_refused() {
    let config = VllmConfig::default().kv_blocks(4);
    let server = Vllm::new(config, presets::find("seed").unwrap().cost).report_tokens();
    let stub = stub(Box::new(server));
    for stream in [false, true] {
        let response = stub
            .clone()
            .oneshot(ask("stub", 100, 10, stream))
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    }
    assert_eq!((stub.stats().failed, stub.stats().in_flight), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_names_its_own_time_takes_no_seat() {
    let stub = stub(presets::find("seed").unwrap().server(None));
    let asked = Instant::now();
    let response = stub
        .oneshot(ask("stub?delay=700ms", 10, 500, false))
        .await
        .unwrap();
    response.into_body().collect().await.unwrap();
    assert_eq!(asked.elapsed().as_millis(), 700);
}
