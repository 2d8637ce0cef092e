//! F17: the budget of a request, a row a stage, and what would happen if.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Curve, Figure, Tolerance, round};
use llm_sim::cost::Affine;
use llm_sim::front::Balance;
use llm_sim::metrics::Limits;
use llm_sim::plan::{self, Answer, Fleet, Metric, Question, Stage, Target};
use llm_sim::server::{Padding, Server, Static};
use llm_sim::workload::{Arrivals, Length, Request, Workload};
use serde_json::json;

const HOW: &str = "600 req/s and p99 within 100 ms asked of the simulator's planner: replicas that take 6 + 1.2 b ms for a batch of \
at most 13; the look-up of the cache, 0.5 ms, is paid by hits and misses";
const RATE: f64 = 600.0;
const LIMIT_MS: f64 = 100.0;
const LOOKUP_MS: f64 = 0.5;

pub(super) fn measure() -> Result<Row, BoxError> {
    let (without, with) = (ask(0.0), ask(0.52));
    let one = fleet(&without, 1)?;
    let two = fleet(&without, 2)?;
    let cached = if_hit_rate(&without, 2, 0.52)?;
    let stages = &with.budget;
    let total = stages
        .iter()
        .find(|stage| stage.stage == "total")
        .ok_or("a budget without its total")?;
    let parts = || stages.iter().filter(|stage| stage.stage != "total");
    let means: f64 = parts().map(|stage| stage.mean_ms).sum();
    let p99s: f64 = parts().map(|stage| stage.p99_ms).sum();
    let figures = vec![
        Figure::new(
            "one replica can do",
            "req/s",
            13e3 / 21.6,
            without.capacity_rps,
            Tolerance::Within(0.001),
        ),
        Figure::new(
            "load of one replica, ρ",
            "",
            0.997,
            one.utilisation,
            Tolerance::Within(0.01),
        ),
        Figure::new(
            "one replica: p99, over the limit",
            "ms",
            LIMIT_MS,
            one.e2e_p99_ms,
            Tolerance::AtLeast,
        ),
        Figure::new(
            "load of two, ρ",
            "",
            0.50,
            two.utilisation,
            Tolerance::Within(0.01),
        ),
        Figure::new(
            "two replicas: p99",
            "ms",
            LIMIT_MS,
            two.e2e_p99_ms,
            Tolerance::AtMost,
        ),
        Figure::new(
            "load of two with a cache of 52 %, ρ",
            "",
            0.24,
            cached.utilisation,
            Tolerance::Within(0.01),
        ),
        Figure::new(
            "two replicas, a cache of 52 %: p99",
            "ms",
            LIMIT_MS,
            cached.e2e_p99_ms,
            Tolerance::AtMost,
        ),
        Figure::count("replicas it takes", 2, without.replicas.unwrap_or(0)),
        Figure::count(
            "replicas it takes with a cache of 52 %",
            1,
            with.replicas.unwrap_or(0),
        ),
        Figure::new(
            "sum of the stages' means, by the total's",
            "ms",
            total.mean_ms,
            means,
            Tolerance::Within(0.001),
        ),
        Figure::new(
            "sum of the stages' p99s: a bound above the total's",
            "ms",
            total.p99_ms,
            p99s,
            Tolerance::AtLeast,
        ),
    ];
    Ok(
        Row::new("F17", "the budget as a table, with what-if", Clock::Simulated, HOW, figures)
            .curve(Curve {
                caption: "Where the time goes at 600 req/s with one replica and a cache of 52 %; means add up, percentiles do not".to_owned(),
                heads: vec!["stage", "mean, ms", "p50, ms", "p99, ms", "share of the mean, %"],
                rows: stages.iter().filter(|stage| stage.mean_ms > 0.0).map(stage_row).collect(),
            })
            .curve(Curve {
                caption: "What would happen if, from two replicas without a cache".to_owned(),
                heads: vec!["case", "replicas", "hit rate", "load, ρ", "p99, ms", "within 100 ms"],
                rows: [
                    ("one replica".to_owned(), one),
                    ("two, as it is".to_owned(), two),
                ]
                    .into_iter()
                    .chain(without.what_if.iter().filter(|(case, _)| case != "one replica lost").cloned())
                    .map(|(case, fleet)| fleet_row(&case, &fleet))
                    .collect(),
            }),
    )
}

fn ask(hit_rate: f64) -> Answer {
    let server = || {
        Box::new(Static::new(
            13,
            0.0,
            Padding::Padded,
            Affine::new(6.0, 1.2, 0.0),
        )) as Box<dyn Server>
    };
    let workload = |rate: f64| {
        let arrivals = if rate >= 1e9 {
            Arrivals::at_once()
        } else {
            Arrivals::poisson(rate)
        };
        let requests = Workload::new("report:planning", arrivals)
            .prompt(Length::constant(0))
            .output(Length::constant(1));
        Box::new(requests) as Box<dyn Iterator<Item = Request>>
    };
    plan::answer(
        &Question {
            server: &server,
            workload: &workload,
            rate_rps: RATE,
            target: Target {
                metric: Metric::EndToEnd,
                quantile: 0.99,
                limit_ms: Some(LIMIT_MS),
                goodput: None,
            },
            limits: Limits::default(),
            hit_rate,
            lookup_ms: LOOKUP_MS,
            balance: Balance::LeastOutstanding,
            price_per_hour: None,
            requests: 200_000,
            most_replicas: 8,
        },
        |_| {},
    )
}

fn fleet(answer: &Answer, replicas: usize) -> Result<Fleet, BoxError> {
    let tried = answer
        .fleets
        .iter()
        .find(|fleet| fleet.replicas == replicas);
    tried
        .copied()
        .ok_or_else(|| format!("{replicas} replicas were not tried").into())
}

fn if_hit_rate(answer: &Answer, replicas: usize, hit_rate: f64) -> Result<Fleet, BoxError> {
    let cases = answer.what_if.iter().map(|(_, fleet)| fleet);
    let mut same = cases
        .filter(|fleet| fleet.replicas == replicas && (fleet.hit_rate - hit_rate).abs() < 1e-9);
    same.next()
        .copied()
        .ok_or_else(|| format!("a hit rate of {hit_rate} was not tried").into())
}

fn stage_row(stage: &Stage) -> Vec<serde_json::Value> {
    vec![
        json!(name(stage.stage)),
        json!(round(stage.mean_ms)),
        json!(round(stage.p50_ms)),
        json!(round(stage.p99_ms)),
        json!(round(stage.share * 100.0)),
    ]
}

/// A batch gives each of its members one answer, whole: its first token is its last.
fn name(stage: &'static str) -> &'static str {
    if stage.starts_with("prefill") {
        "the batch itself"
    } else {
        stage
    }
}

fn fleet_row(case: &str, fleet: &Fleet) -> Vec<serde_json::Value> {
    vec![
        json!(case),
        json!(fleet.replicas),
        json!(round(fleet.hit_rate)),
        json!(round(fleet.utilisation)),
        json!(round(fleet.e2e_p99_ms)),
        json!(if fleet.meets { "yes" } else { "no" }),
    ]
}
