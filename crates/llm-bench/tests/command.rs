//! The command, against servers in this process.
#![expect(
    clippy::unwrap_used,
    reason = "what tests have in common may do what tests may do"
)]

use clap::Parser;
use llm_bench::cli::Cli;
use llm_bench::load::Stop;
use llm_bench::serve::{Verdict, run};
use llm_bench::upstream::{Part, Script, Upstream};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

async fn bench(line: &str) -> Verdict {
    let words = std::iter::once("llm-bench").chain(line.split(' ').filter(|word| !word.is_empty()));
    let cli = Cli::try_parse_from(words).unwrap();
    run(&cli, &Stop::default()).await.unwrap()
}

fn objects(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn streaming() -> Upstream {
    let content = r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}"#;
    let stop = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}}"#;
    let mut script = Script::stream();
    script.push(Part::after(Duration::from_millis(3)).event(content));
    script.push(Part::after(Duration::from_millis(2)).event(content));
    let end = Part::after(Duration::ZERO)
        .event(stop)
        .event(usage)
        .event("[DONE]");
    script.push(end);
    Upstream::script(script).unwrap()
}

#[tokio::test]
async fn results_have_the_keys_of_vllm_bench_serve() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let upstream = streaming();
    let verdict = bench(&format!(
        "--base-url {} --model org/m --request-rate 200 --num-prompts 20 --num-warmups 2 --input-len 4 --goodput ttft:5000 \
         --metric-percentiles 50,99 --save-detailed --result-filename {} --metadata tp=1 --percentile-metrics ttft,tpot,itl,e2el",
        upstream.url(),
        file.display()
    ))
    .await;
    // How late this process is, among others, is not the question.
    assert!(
        verdict.faults.iter().all(|fault| !fault.contains("answer")),
        "{verdict:?}"
    );
    assert_eq!(upstream.calls(), 22, "the warm-up is no part of it");
    let result = &objects(&file)[0];
    for key in [
        "date",
        "endpoint_type",
        "backend",
        "label",
        "model_id",
        "tokenizer_id",
        "num_prompts",
        "tp",
        "request_rate",
        "burstiness",
        "max_concurrency",
        "duration",
        "completed",
        "failed",
        "total_input_tokens",
        "total_output_tokens",
        "request_throughput",
        "request_goodput",
        "output_throughput",
        "total_token_throughput",
        "input_lens",
        "output_lens",
        "ttfts",
        "itls",
        "latencies",
        "start_times",
        "queue_times",
        "errors",
        "max_output_tokens_per_s",
        "max_concurrent_requests",
        "mean_ttft_ms",
        "median_ttft_ms",
        "std_ttft_ms",
        "p99_ttft_ms",
        "p50_tpot_ms",
        "mean_itl_ms",
        "p99_e2el_ms",
    ] {
        assert!(
            !result[key].is_null() || ["label", "tokenizer_id", "max_concurrency"].contains(&key),
            "{key}"
        );
        assert!(result.get(key).is_some(), "{key}");
    }
    assert_eq!(
        (&result["completed"], &result["total_output_tokens"]),
        (&20.into(), &40.into())
    );
    assert_eq!(
        (
            &result["total_input_tokens"],
            &result["cached_input_tokens"]
        ),
        (&80.into(), &20.into())
    );
    assert_eq!(result["ttfts"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn a_comparison_tells_what_one_server_costs_beside_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let server = |ms| Upstream::script(Script::body(Duration::from_millis(ms))).unwrap();
    let (slow, fast) = (server(25), server(10));
    bench(&format!(
        "--base-url {} --compare {} --model m --backend openai-chat --form body --max-concurrency 1 --num-prompts 40 --input-len 4 \
         --result-filename {}",
        slow.url(),
        fast.url(),
        file.display()
    ))
    .await;
    assert_eq!((slow.calls(), fast.calls()), (40, 40));
    let compared = &objects(&file)[0]["compared"][0];
    assert_eq!(compared["pairs"], 40);
    let median = &compared["median_ms"];
    let figure = |key: &str| median[key].as_f64().unwrap();
    // Timers of whole milliseconds, on both sides.
    assert!((figure("value") - 15.0).abs() < 2.0, "{compared}");
    assert!(figure("low") <= figure("value") && figure("value") <= figure("high"));
}

#[tokio::test]
async fn a_sweep_writes_one_line_a_point_and_a_repetition_its_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let (points, repeated) = (folder.path().join("p.json"), folder.path().join("r.json"));
    let upstream = streaming();
    let base = format!("--base-url {} --model m --input-len 4", upstream.url());
    bench(&format!(
        "{base} --sweep max-concurrency=1,4 --num-prompts 12 --append-result --result-filename {}",
        points.display()
    ))
    .await;
    let points = objects(&points);
    let loads: Vec<_> = points
        .iter()
        .map(|point| point["sweep_load"].as_f64().unwrap())
        .collect();
    assert_eq!(loads, [1.0, 4.0]);
    assert!(points[1]["mean_concurrency"].as_f64() > points[0]["mean_concurrency"].as_f64());
    bench(&format!(
        "{base} --repeat 3 --max-concurrency 2 --num-prompts 10 --result-filename {}",
        repeated.display()
    ))
    .await;
    let interval = objects(&repeated)[0]["repeated"]["mean_e2el"].clone();
    assert_eq!(interval["runs"].as_array().unwrap().len(), 3);
    assert!(interval["low"].as_f64() < interval["mean"].as_f64());
}

#[tokio::test]
async fn a_figure_that_is_not_as_it_must_be_fails_the_test() {
    let upstream = Upstream::script(Script::status(503)).unwrap();
    let line = format!(
        "--base-url {} --model m --max-concurrency 1 --num-prompts 3 --input-len 4 --check failed==0 p99_e2el<60000 completed==0",
        upstream.url()
    );
    let faults = bench(&line).await.faults;
    assert!(
        faults.iter().any(|fault| fault.contains("failed: 3")),
        "{faults:?}"
    );
    // Who never had an answer had not had it in time.
    assert!(
        faults.iter().any(|fault| fault.contains("p99_e2el: inf")),
        "{faults:?}"
    );
    assert!(!faults.iter().any(|fault| fault.contains("completed: 0")));
}
