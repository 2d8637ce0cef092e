//! A second copy of what is late.

use super::{
    Experiment, Plan, Row,
    run::{Metric, SEATS, Scene, Start, e2e_p95_s, reference, ttft_p95, ttft_p99},
};
use crate::{
    cost::Affine,
    front::{Balance, Direct, Front, Hedge, Hedged},
    server::{Continuous, Server, Stalling},
    workload::Workload,
};

/// The share of requests that had a second copy.
fn extra(played: &super::run::Played) -> f64 {
    100.0 * played.tally.hedges as f64 / played.report.counts.arrived.max(1) as f64
}

fn row(
    plan: &Plan,
    variant: &str,
    hedge: Option<Hedge>,
    rate_rps: f64,
    servers: &dyn Fn(u64) -> Vec<Box<dyn Server>>,
    metrics: &[Metric],
) -> Row {
    let balance = Balance::LeastOutstanding;
    let scene = Scene {
        start: Start::Warm,
        servers,
        front: &|seed| match hedge {
            None => Box::new(Direct::new(balance, &seed.to_string())) as Box<dyn Front>,
            Some(hedge) => Box::new(Hedged::new(balance, hedge, &seed.to_string())),
        },
        requests: &|seed| Box::new(Workload::seed(seed, rate_rps)),
    };
    scene.row(plan, variant, metrics)
}

pub(super) fn stalls(plan: &Plan) -> Experiment {
    let stalling = |seed| {
        let server = |number: u64| {
            let seed = format!("{seed}:{number}");
            let server = Continuous::new(SEATS, Affine::SEED);
            Box::new(Stalling::new(server, 0.02, 1200.0, &seed)) as Box<dyn Server>
        };
        (0..4).map(server).collect()
    };
    let row = |variant, hedge, p99, copies| {
        let metrics: [Metric; 3] = [
            ("TTFT p99, ms", ttft_p99, Some(p99)),
            ("TTFT p95, ms", ttft_p95, None),
            ("second copies, %", extra, copies),
        ];
        row(plan, variant, hedge, 16.0, &stalling, &metrics)
    };
    Experiment {
        name: "hedging",
        title: "What does a second copy of late requests buy?",
        setting: "4 replicas, 16 requests a second, least outstanding; 2 % of requests held up for 1.2 s, each copy on its own",
        requests: plan.requests,
        note: "As the prototype, whose stall is not recorded: ours was chosen to give its tail without hedging. Copies go to another replica, \
the first token wins, the loser is cancelled.",
        rows: vec![
            row("none", None, 1271.0, None),
            row(
                "after 100 ms",
                Some(Hedge::after(100.0).budget(0.05)),
                125.0,
                Some(2.0),
            ),
        ],
    }
}

pub(super) fn overload(plan: &Plan) -> Experiment {
    let row = |variant, hedge| {
        let metrics: [Metric; 3] = [
            ("TTFT p95, ms", ttft_p95, None),
            ("E2E p95, s", e2e_p95_s, None),
            ("second copies, %", extra, None),
        ];
        row(plan, variant, hedge, 40.0, &|_| reference(4), &metrics)
    };
    Experiment {
        name: "hedging-overload",
        title: "What does hedging do when everybody is slow?",
        setting: "4 replicas, 40 requests a second (95 % of what they can take), least outstanding",
        requests: plan.requests,
        note: "It makes things worse: a copy of what waits for a busy server is more work for another one. The budget bounds the harm.",
        rows: vec![
            row("none", None),
            row(
                "after 100 ms, budget 5 %",
                Some(Hedge::after(100.0).budget(0.05)),
            ),
            row("after 100 ms, no budget", Some(Hedge::after(100.0))),
        ],
    }
}
