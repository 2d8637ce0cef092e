//! F1: the time of a request, stage by stage, at the edge: the backend is quick, and the callers wait all the same.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Figure, Tolerance};
use crate::gateway::{Answer, Gateway, chat};
use crate::virtual_time;
use llm_bench::measure::millis;
use llm_front::config::Config;
use std::time::Duration;
use tokio::task::JoinSet;

const HOW: &str = "8 callers at once ask the whole gateway, which may hold one request at a backend of 24 ms; `Server-Timing` on each \
answer is held against what its caller saw, and the histograms at /metrics against each other; then one of them asks again";
const CALLERS: usize = 8;

pub(super) fn measure() -> Result<Row, BoxError> {
    virtual_time::run(within())
}

async fn within() -> Result<Row, BoxError> {
    let gateway = Gateway::new(&Config {
        max_upstream: 1,
        ..Config::default()
    })?;
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let request = chat("stub?delay=24ms", &format!("question {caller}"), "")?;
        let gateway = gateway.clone();
        callers.spawn(async move { gateway.ask(request).await });
    }
    let mut answers = Vec::new();
    while let Some(answer) = callers.join_next().await {
        answers.push(answer??);
    }
    let backend = |answer: &Answer| stage(answer, "backend");
    let (mut least, mut most, mut slowest) = (f64::INFINITY, 0.0_f64, None);
    let mut took = Duration::ZERO;
    for answer in &answers {
        least = least.min(backend(answer));
        most = most.max(backend(answer));
        if answer.took > took {
            (took, slowest) = (answer.took, Some(answer));
        }
    }
    let queued = slowest.map_or(f64::NAN, |answer| stage(answer, "queue"));
    let again = gateway
        .ask(chat("stub?delay=24ms", "question 0", "")?)
        .await?;
    let metrics = gateway.metrics();
    let whole = sum(&metrics, "llm_front_request_duration_seconds_sum");
    let parts = sum(&metrics, "llm_front_stage_duration_seconds_sum");
    let ms = |figure, expected, measured| {
        Figure::new(figure, "ms", expected, measured, Tolerance::Exact)
    };
    Ok(Row::new(
        "F1",
        "every stage measured apart, at the edge",
        Clock::Virtual,
        HOW,
        vec![
            ms("at the backend, the quickest", 24.0, least),
            ms("at the backend, the slowest", 24.0, most),
            ms(
                "what the last caller saw",
                24.0 * CALLERS as f64,
                millis(took),
            ),
            ms("of it, in the queue", 24.0 * (CALLERS - 1) as f64, queued),
            ms(
                "the same question again: at the backend",
                0.0,
                backend(&again),
            ),
            Figure::new(
                "sum of the stages over the whole",
                "",
                1.0,
                parts / whole,
                Tolerance::Within(1e-6),
            ),
        ],
    ))
}

/// What `Server-Timing` says of a stage, in milliseconds; 0 where it is not there.
fn stage(answer: &Answer, name: &str) -> f64 {
    let field = answer.headers.get("server-timing");
    let field = field
        .and_then(|field| field.to_str().ok())
        .unwrap_or_default();
    let entry = field.split(", ").find_map(|entry| {
        let (stage, millis) = entry.split_once(";dur=")?;
        (stage == name).then(|| millis.parse().ok())?
    });
    entry.unwrap_or(0.0)
}

/// The sum over all lines of a metric.
fn sum(metrics: &str, name: &str) -> f64 {
    let lines = metrics.lines().filter(|line| line.starts_with(name));
    lines
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .sum()
}
