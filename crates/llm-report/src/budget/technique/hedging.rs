//! F10: a second copy of what is late, within a budget. In the simulator only: the product has one backend.

use super::{Row, study};
use crate::BoxError;
use crate::budget::{Clock, Figure, Tolerance};
use llm_bench::measure::Sorted;
use llm_sim::rng::PyRandom;

const HOW: &str = "two million exponential latencies of mean 1, with and without a second copy after their 95th percentile, drawn; and four \
simulated replicas at 16 req/s where 2 % of requests stall for 1.2 s, with a copy after 100 ms, and at 95 % of what they can take: the mean of five seeds";
const DRAWS: usize = 2_000_000;
/// The most copies, as a share of the requests.
const BUDGET: f64 = 0.05;

pub(super) fn measure() -> Result<Row, BoxError> {
    let drawn = draw();
    let stalls = study::run("hedging", 5)?;
    let overload = study::run("hedging-overload", 5)?;
    let (p99, copies) = ("TTFT p99, ms", "second copies, %");
    let figures = vec![
        Figure::new(
            "exponential: p99",
            "means",
            4.61,
            drawn.alone,
            Tolerance::Within(0.01),
        )
        .by(Clock::Drawn),
        Figure::new(
            "exponential, hedged: p99",
            "means",
            3.80,
            drawn.hedged,
            Tolerance::Within(0.01),
        )
        .by(Clock::Drawn),
        Figure::new(
            "exponential: copies",
            "%",
            BUDGET * 100.0,
            drawn.copies,
            Tolerance::AtMost,
        )
        .by(Clock::Drawn),
        Figure::new(
            "stalls: p99 to the first token",
            "ms",
            1271.0,
            study::mean(&stalls, "none", p99)?,
            Tolerance::Within(0.1),
        ),
        Figure::new(
            "stalls, hedged: p99 to the first token",
            "ms",
            125.0,
            study::mean(&stalls, "after 100 ms", p99)?,
            Tolerance::Within(0.1),
        ),
        Figure::new(
            "stalls: copies",
            "%",
            BUDGET * 100.0,
            study::mean(&stalls, "after 100 ms", copies)?,
            Tolerance::AtMost,
        ),
        Figure::new(
            "all slow: copies",
            "%",
            BUDGET * 100.0,
            study::mean(&overload, "after 100 ms, budget 5 %", copies)?,
            Tolerance::AtMost,
        ),
    ];
    Ok(Row::new(
        "F10",
        "hedging after p95 with a budget of 5 %",
        Clock::Simulated,
        HOW,
        figures,
    )
    .simulation_only())
}

struct Drawn {
    alone: f64,
    hedged: f64,
    copies: f64,
}

fn draw() -> Drawn {
    let mut random = PyRandom::from_text("report:hedging");
    let first: Vec<f64> = (0..DRAWS).map(|_| random.exponential(1.0)).collect();
    let alone = Sorted::new(first.clone());
    let after = alone.quantile(1.0 - BUDGET);
    let mut copies = 0_usize;
    let hedged = first.into_iter().enumerate().map(|(number, latency)| {
        // As the simulator: one copy more must leave the copies within their share of the requests so far.
        let allowed = (copies + 1) as f64 <= BUDGET * (number + 1) as f64;
        if latency <= after || !allowed {
            return latency;
        }
        copies += 1;
        latency.min(after + random.exponential(1.0))
    });
    let hedged: Sorted = hedged.collect();
    Drawn {
        alone: alone.quantile(0.99),
        hedged: hedged.quantile(0.99),
        copies: copies as f64 / DRAWS as f64 * 100.0,
    }
}
