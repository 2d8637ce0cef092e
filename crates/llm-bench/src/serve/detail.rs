//! What became of each request, as JSON: the arrays of `vllm bench serve`, and some more. Seconds.

use crate::load::Outcome;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// One array a property, in the order of the requests' numbers.
pub(super) fn detail(outcomes: &[Outcome]) -> Map<String, Value> {
    let of = |value: fn(&Outcome) -> Value| Value::Array(outcomes.iter().map(value).collect());
    let mut detail = Map::new();
    let mut put = |key: &str, value: Value| detail.insert(key.to_owned(), value);
    put("input_lens", of(|outcome| json!(outcome.prompt_tokens)));
    put("output_lens", of(|outcome| json!(outcome.output_tokens)));
    put("intended_times", of(|outcome| seconds(outcome.due)));
    put("start_times", of(|outcome| seconds(outcome.sent)));
    put("queue_times", of(|outcome| seconds(outcome.queued())));
    put("lags", of(|outcome| seconds(outcome.lag())));
    put(
        "ttfts",
        of(|outcome| outcome.ttft().map_or(Value::Null, seconds)),
    );
    put(
        "itls",
        of(|outcome| Value::Array(outcome.pauses().map(|(pause, _)| seconds(pause)).collect())),
    );
    put("latencies", of(|outcome| seconds(outcome.e2el())));
    put(
        "errors",
        of(|outcome| json!(outcome.why.as_deref().unwrap_or_default())),
    );
    put("ends", of(|outcome| json!(outcome.end)));
    put("statuses", of(|outcome| json!(outcome.status)));
    put("answer_sources", of(|outcome| json!(outcome.source)));
    detail
}

fn seconds(time: Duration) -> Value {
    json!(time.as_secs_f64())
}
