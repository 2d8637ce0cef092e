//! F13: balance by outstanding requests, not in turn. In the simulator only: the product has one backend.

use super::{Row, study};
use crate::BoxError;
use crate::budget::{Clock, Curve, Figure, Tolerance, round};
use serde_json::json;

const HOW: &str = "28 req/s over four replicas with continuous batching, one of them half as fast: 10,000 requests, the mean of five seeds; in \
turn, the slow one's queue grows as long as the run lasts";
const FIGURE: &str = "TTFT p95, ms";
const RULES: [&str; 4] = [
    "random",
    "round robin",
    "power of two choices",
    "least outstanding",
];

pub(super) fn measure() -> Result<Row, BoxError> {
    let experiment = study::run("slow-replica", 5)?;
    let of = |rule| study::mean(&experiment, rule, FIGURE);
    let figures = vec![
        Figure::new(
            "p95 to the first token, fewest outstanding",
            "ms",
            90.0,
            of("least outstanding")?,
            Tolerance::AtMost,
        ),
        Figure::new(
            "p95 to the first token, in turn",
            "ms",
            101_000.0,
            of("round robin")?,
            Tolerance::Within(0.15),
        ),
    ];
    let rows: Result<_, BoxError> = RULES
        .iter()
        .map(|rule| Ok(vec![json!(rule), json!(round(of(rule)?))]))
        .collect();
    Ok(Row::new(
        "F13",
        "balance by outstanding requests",
        Clock::Simulated,
        HOW,
        figures,
    )
    .simulation_only()
    .curve(Curve {
        caption: "28 req/s over four replicas, one half as fast".to_owned(),
        heads: vec!["rule", "p95 to the first token, ms"],
        rows: rows?,
    }))
}
