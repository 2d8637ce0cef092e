//! F13: balance by outstanding requests, not in turn. In the simulator only: the product has one backend.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Curve, Figure, Tolerance, round};
use llm_sim::cost::Affine;
use llm_sim::engine::Simulation;
use llm_sim::front::{Balance, Direct};
use llm_sim::server::{Continuous, Server};
use llm_sim::workload::{Arrivals, Workload};
use serde_json::json;

const HOW: &str = "28 req/s over four replicas with continuous batching, one of them half as fast, in turn, by the better of two at \
random, and by fewest outstanding; in turn, the slow one's queue grows as long as the run lasts, here 20,000 requests";
const REQUESTS: usize = 20_000;

pub(super) fn measure() -> Result<Row, BoxError> {
    let turn = ttft_p95_ms(Balance::RoundRobin);
    let choices = ttft_p95_ms(Balance::TwoChoices);
    let least = ttft_p95_ms(Balance::LeastOutstanding);
    let figures = vec![
        Figure::new(
            "p95 to the first token, fewest outstanding",
            "ms",
            90.0,
            least,
            Tolerance::AtMost,
        ),
        Figure::new(
            "p95 to the first token, in turn (what is to be avoided)",
            "ms",
            101_000.0,
            turn,
            Tolerance::AtLeast,
        ),
    ];
    let rows = [
        ("in turn", turn),
        ("the better of two", choices),
        ("fewest outstanding", least),
    ];
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
        rows: rows
            .map(|(rule, ms)| vec![json!(rule), json!(round(ms))])
            .to_vec(),
    }))
}

fn ttft_p95_ms(balance: Balance) -> f64 {
    let slow = Affine::new(12.0, 0.5, 0.1);
    let servers = [slow, Affine::SEED, Affine::SEED, Affine::SEED]
        .map(|cost| Box::new(Continuous::new(32, cost)) as Box<dyn Server>);
    let mut sim = Simulation::new(servers.into(), Direct::new(balance, "report"));
    let requests = Workload::new("report:balancing", Arrivals::poisson(28.0));
    sim.run(requests.take(REQUESTS)).latency.ttft.quantile(0.95)
}
