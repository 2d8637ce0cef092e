//! F18: waiting grows with ρ / (1 − ρ); its 99th percentile by its own law.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Curve, Figure, Tolerance, round};
use llm_sim::cost::Affine;
use llm_sim::engine::Simulation;
use llm_sim::front::Direct;
use llm_sim::metrics::Sketch;
use llm_sim::server::Static;
use llm_sim::workload::{Arrivals, Length, Workload};
use serde_json::json;

const HOW: &str = "one server, first come first served, exponential service of 1.217 ms, Poisson arrivals, up to 18 million requests a load: \
the wait in the queue beside ρ / (1 − ρ) and, for the 99th percentile, ln(100 ρ) / (1 − ρ) services";
const SERVICE_MS: f64 = 1.217;
/// So many steps make a mean service: fine enough to be as good as continuous.
const STEPS: f64 = 10_000.0;
/// Requests that make a mean wait certain to about 1 %: its scatter grows with 1 / (1 − ρ)².
const REQUESTS: f64 = 150_000.0;

pub(super) fn measure() -> Result<Row, BoxError> {
    let loads = [0.5, 0.7, 0.8, 0.91];
    let waits = loads.map(wait_ms);
    let [_, low, _, high] = &waits;
    let mut figures: Vec<Figure> = loads
        .iter()
        .zip(&waits)
        .map(|(load, wait)| {
            let law = SERVICE_MS * load / (1.0 - load);
            Figure::new(
                format!("mean wait at ρ = {load}"),
                "ms",
                law,
                wait.mean(),
                Tolerance::Within(0.02),
            )
        })
        .collect();
    figures.push(Figure::new(
        "p99 of the wait at ρ = 0.91",
        "ms",
        61.0,
        high.quantile(0.99),
        Tolerance::Within(0.03),
    ));
    figures.push(Figure::new(
        "p99 of the wait at ρ = 0.70",
        "ms",
        17.0,
        low.quantile(0.99),
        Tolerance::Within(0.03),
    ));
    let rows = loads.iter().zip(&waits).map(|(load, wait)| {
        vec![
            json!(load),
            json!(round(wait.mean())),
            json!(round(SERVICE_MS * load / (1.0 - load))),
            json!(round(wait.quantile(0.99))),
            json!(round(SERVICE_MS * (100.0 * load).ln() / (1.0 - load))),
        ]
    });
    Ok(
        Row::new("F18", "queue factor", Clock::Simulated, HOW, figures).curve(Curve {
            caption: "Waiting in one queue, service of 1.217 ms".to_owned(),
            heads: vec![
                "load, ρ",
                "mean wait, ms",
                "by ρ / (1 − ρ), ms",
                "p99 wait, ms",
                "by its law, ms",
            ],
            rows: rows.collect(),
        }),
    )
}

fn wait_ms(load: f64) -> Sketch {
    let server = Static::sequential(Affine::new(SERVICE_MS / STEPS, 0.0, 0.0));
    let requests = Workload::new("report:queue", Arrivals::poisson(load / SERVICE_MS * 1e3))
        .prompt(Length::constant(0))
        .output(Length::exponential(STEPS, 1, u32::MAX));
    let count = (REQUESTS / (1.0 - load).powi(2)) as usize;
    let mut sim = Simulation::new(vec![Box::new(server)], Direct::default());
    sim.run(requests.take(count)).latency.queue
}
