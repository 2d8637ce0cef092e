//! The figures as JSON: the keys of `vllm bench serve`, and some more.

use super::console::metrics;
use super::plan::Plan;
use crate::BoxError;
use crate::cli::{Cli, RampName};
use crate::figures::{Group, Metric, Summary};
use crate::measure::Sorted;
use crate::report::Machine;
use serde_json::{Map, Value, json};

/// What was run.
pub(super) fn setup(cli: &Cli, plan: &Plan, date: &str) -> Result<Map<String, Value>, BoxError> {
    let traffic = &cli.traffic;
    let backend = backend(plan);
    let rate = match traffic.request_rate.is_finite() {
        true => json!(traffic.request_rate),
        false => json!("inf"),
    };
    let mut setup = object(json!({
        "date": date,
        "endpoint_type": backend,
        "backend": backend,
        "label": cli.results.label,
        "model_id": plan.model,
        "tokenizer_id": null,
        "num_prompts": plan.count,
        "request_rate": rate,
        "burstiness": if traffic.burstiness.is_finite() { json!(traffic.burstiness) } else { json!("inf") },
        "max_concurrency": traffic.max_concurrency,
        "loop": if plan.is_open { "open" } else { "closed" },
        "seed": cli.dataset.seed,
        "load_generator": format!("llm-bench {}", env!("CARGO_PKG_VERSION")),
        "machine": Machine::here(),
    }));
    if let Some(strategy) = traffic.ramp_up_strategy {
        let word = if strategy == RampName::Linear {
            "linear"
        } else {
            "exponential"
        };
        setup.insert("ramp_up_strategy".to_owned(), word.into());
        setup.insert(
            "ramp_up_start_rps".to_owned(),
            json!(traffic.ramp_up_start_rps),
        );
        setup.insert("ramp_up_end_rps".to_owned(), json!(traffic.ramp_up_end_rps));
    }
    for pair in &cli.results.metadata {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("--metadata {pair}: write KEY=VALUE"))?;
        setup.insert(key.trim().to_owned(), value.trim().into());
    }
    Ok(setup)
}

/// The name that `vllm bench serve` has for the call.
pub(super) const fn backend(plan: &Plan) -> &'static str {
    use crate::workload::Endpoint;
    match plan.endpoint {
        Endpoint::Chat => "openai-chat",
        Endpoint::Completions => "openai",
        Endpoint::Embeddings => "openai-embeddings",
    }
}

/// What was measured.
pub(super) fn figures(cli: &Cli, plan: &Plan, summary: &Summary) -> Map<String, Value> {
    let all = &summary.all;
    let pace = &summary.pace;
    let mut figures = object(json!({
        "duration": summary.duration_s,
        "completed": all.completed,
        "failed": all.failed(),
        "total_input_tokens": all.input_tokens,
        "total_output_tokens": all.output_tokens,
        "request_throughput": summary.request_throughput(),
        "request_goodput": summary.goodput(),
        "output_throughput": summary.output_throughput(),
        "total_token_throughput": summary.total_token_throughput(),
        "max_output_tokens_per_s": summary.peak_tokens_per_s,
        "max_concurrent_requests": summary.peak_concurrency,
        "mean_concurrency": summary.mean_concurrency,
        "tokens_per_chunk": number(summary.tokens_per_chunk()),
        "cached_input_tokens": all.cached_tokens,
        "answers_without_usage": all.uncounted,
        "unsent": summary.unsent,
        "offered_rate": pace.offered,
        "achieved_rate": pace.achieved,
        "p99_lag_ms": number(pace.lag.quantile(0.99)),
        "valid": pace.faults().is_empty(),
        "faults": pace.faults(),
        "failures": all.failures.iter().map(|((end, status), (count, example))| json!({
            "end": end, "status": status, "count": count, "example": example,
        })).collect::<Vec<_>>(),
        "p99_e2el_ms_with_failed": number(all.quantile_with_failed(0.99)),
    }));
    let mut wanted = metrics(cli, plan);
    // The second figure beside each headline, whatever is printed.
    wanted.extend([
        Metric::E2el,
        Metric::E2elFromSend,
        Metric::TtftFromSend,
        Metric::ClientQueueTime,
    ]);
    wanted.sort_unstable();
    wanted.dedup();
    statistics(cli, all, &wanted, &mut figures);
    let formulas = wanted
        .iter()
        .map(|metric| (metric.word().to_owned(), metric.formula().into()));
    figures.insert("formulas".to_owned(), Value::Object(formulas.collect()));
    let sources = summary.sources.iter().map(|(source, group)| {
        let mut of = object(json!({ "requests": group.requests, "failed": group.failed() }));
        statistics(cli, group, &wanted, &mut of);
        let word = serde_json::to_value(source)
            .ok()
            .and_then(|word| word.as_str().map(str::to_owned));
        (word.unwrap_or_default(), Value::Object(of))
    });
    figures.insert("sources".to_owned(), Value::Object(sources.collect()));
    figures
}

fn statistics(cli: &Cli, group: &Group, wanted: &[Metric], into: &mut Map<String, Value>) {
    for &metric in wanted {
        let series: &Sorted = group.series(metric);
        let word = metric.word();
        // An answer in one body has no tokens that arrive by themselves.
        if series.is_empty() && group.completed > 0 {
            continue;
        }
        let mut put =
            |statistic: &str, value| into.insert(format!("{statistic}_{word}_ms"), number(value));
        put("mean", series.mean());
        put("median", series.median());
        put("std", series.deviation());
        for (percent, value) in super::console::percentiles(cli, series) {
            put(&format!("p{percent}"), value);
        }
    }
}

/// A number; null where there is none.
pub(super) fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
