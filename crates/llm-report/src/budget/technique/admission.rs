//! F20: a limit on concurrency makes overload an answer instead of a queue.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Curve, Figure, Tolerance, round};
use crate::gateway::{Gateway, chat};
use crate::virtual_time;
use http::{StatusCode, header};
use llm_bench::measure::{Sorted, millis};
use llm_front::config::Config;
use llm_front::config::types::Span;
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

const HOW: &str = "the whole gateway with 8 places before a backend of 40 ms: 32 callers who ask again at once, then 100 to 400 req/s for \
10 s, evenly, with a wait of at most 200 ms for a place, and 300 req/s with a wait without end";
const WAIT: Duration = Duration::from_millis(200);
const FOR_EVER: Duration = Duration::from_secs(86_400);
const LOADS: [u32; 7] = [100, 160, 200, 220, 260, 300, 400];

pub(super) fn measure() -> Result<Row, BoxError> {
    let runs: Vec<(u32, Run)> = LOADS
        .iter()
        .map(|load| Ok((*load, offer(*load, 10, WAIT)?)))
        .collect::<Result<_, BoxError>>()?;
    let of = |load: u32| {
        runs.iter()
            .find(|(at, _)| *at == load)
            .map(|(_, run)| run)
            .ok_or("a load that was not offered")
    };
    let (most, beyond) = (of(400)?, of(220)?);
    let refused: usize = runs.iter().map(|(_, run)| run.refused).sum();
    let worded: usize = runs.iter().map(|(_, run)| run.worded).sum();
    let (ten, twenty) = (offer(300, 10, FOR_EVER)?, offer(300, 20, FOR_EVER)?);
    let figures = vec![
        Figure::new(
            "ceiling: 8 / 40 ms",
            "req/s",
            200.0,
            ceiling()?,
            Tolerance::Exact,
        ),
        Figure::new(
            "400 req/s: answered within the 10 s",
            "",
            2000.0,
            most.in_time as f64,
            Tolerance::Within(0.005),
        ),
        Figure::count("200 req/s: refused", 0, of(200)?.refused),
        Figure::count(
            "400 req/s: refused, or answered",
            4000,
            most.refused + most.answered,
        ),
        Figure::new(
            "400 req/s: refused in 10 s",
            "",
            2000.0,
            most.refused as f64,
            Tolerance::Within(0.03),
        ),
        Figure::count("refusals that are 503 with Retry-After", refused, worded),
        Figure::new(
            "220 req/s: p99 of the answered, at most wait + service",
            "ms",
            240.0,
            beyond.p99_ms,
            Tolerance::AtMost,
        ),
        Figure::new(
            "400 req/s: p99 of the answered, as at 220",
            "ms",
            beyond.p99_ms,
            most.p99_ms,
            Tolerance::Within(0.02),
        ),
        Figure::new(
            "without end, 300 req/s: p99 after 20 s, by that after 10 s",
            "ms",
            2.0 * ten.p99_ms,
            twenty.p99_ms,
            Tolerance::Within(0.05),
        ),
    ];
    let rows = runs.iter().map(|(load, run)| {
        vec![
            json!(load),
            json!(run.in_time),
            json!(run.refused),
            json!(round(run.p99_ms)),
        ]
    });
    Ok(Row::new(
        "F20",
        "concurrency limit and load shedding",
        Clock::Virtual,
        HOW,
        figures,
    )
    .curve(Curve {
        caption: "8 places of 40 ms, at most 200 ms of waiting, 10 s of load".to_owned(),
        heads: vec![
            "offered, req/s",
            "answered within the 10 s",
            "refused",
            "p99 of the answered, ms",
        ],
        rows: rows.collect(),
    }))
}

struct Run {
    answered: usize,
    /// Answers that came while the load lasted.
    in_time: usize,
    refused: usize,
    /// Refusals that are a 503 and say when to come again.
    worded: usize,
    p99_ms: f64,
}

fn gateway(wait: Duration) -> Result<Gateway, BoxError> {
    Gateway::new(&Config {
        max_upstream: 8,
        upstream_wait: Span(wait),
        ..Config::default()
    })
}

/// Each request asks something else: nothing is shared, everything needs a place.
fn request(number: u32) -> Result<http::Request<http_body_util::Full<bytes::Bytes>>, BoxError> {
    chat("stub?delay=40ms", &format!("question {number}"), "")
}

/// Answers a second while 32 callers always have a request open.
fn ceiling() -> Result<f64, BoxError> {
    const CALLERS: u32 = 32;
    const EACH: u32 = 100;
    virtual_time::run(async {
        let gateway = gateway(WAIT)?;
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let gateway = gateway.clone();
            callers.spawn(async move {
                for round in 0..EACH {
                    let answer = gateway.ask(request(caller * EACH + round)?).await?;
                    if answer.status != StatusCode::OK {
                        return Err(format!(
                            "a caller who may wait was answered {}",
                            answer.status
                        )
                        .into());
                    }
                }
                Ok::<_, BoxError>(())
            });
        }
        while let Some(caller) = callers.join_next().await {
            caller??;
        }
        Ok(f64::from(CALLERS * EACH) / start.elapsed().as_secs_f64())
    })
}

fn offer(load: u32, seconds: u32, wait: Duration) -> Result<Run, BoxError> {
    virtual_time::run(async move {
        let gateway = gateway(wait)?;
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for number in 0..load * seconds {
            let at = Duration::from_secs_f64(f64::from(number) / f64::from(load));
            let (gateway, request) = (gateway.clone(), request(number)?);
            callers.spawn(async move {
                tokio::time::sleep_until(start + at).await;
                Ok::<_, BoxError>((at, gateway.ask(request).await?))
            });
        }
        let lasts = Duration::from_secs(u64::from(seconds));
        let (mut took, mut in_time, mut refused, mut worded) = (Vec::new(), 0, 0, 0);
        while let Some(answer) = callers.join_next().await {
            let (at, answer) = answer??;
            if answer.status == StatusCode::OK {
                took.push(millis(answer.took));
                in_time += usize::from(at + answer.took <= lasts);
                continue;
            }
            refused += 1;
            let busy = answer.status == StatusCode::SERVICE_UNAVAILABLE;
            worded += usize::from(busy && answer.headers.contains_key(header::RETRY_AFTER));
        }
        Ok(Run {
            answered: took.len(),
            in_time,
            refused,
            worded,
            p99_ms: Sorted::new(took).quantile(0.99),
        })
    })
}
