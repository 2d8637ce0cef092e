//! Which replica takes a request.

use super::{
    Experiment, Plan,
    run::{Metric, SEATS, Scene, Start, reference, ttft_p95, ttft_p99},
};
use crate::{
    cost::Affine,
    front::{Balance, Direct},
    server::{Continuous, Server},
    workload::Workload,
};

const RULES: [(&str, Balance); 4] = [
    ("random", Balance::Random),
    ("round robin", Balance::RoundRobin),
    ("power of two choices", Balance::TwoChoices),
    ("least outstanding", Balance::LeastOutstanding),
];

/// One row a rule of balancing.
fn rows(
    plan: &Plan,
    rate_rps: f64,
    servers: fn() -> Vec<Box<dyn Server>>,
    metric: fn(Option<f64>) -> [Metric; 2],
    prototype: [Option<f64>; 4],
) -> Vec<super::Row> {
    RULES
        .iter()
        .zip(prototype)
        .map(|((name, balance), figure)| {
            let scene = Scene {
                start: Start::Warm,
                servers: &|_| servers(),
                front: &|seed| Box::new(Direct::new(*balance, &seed.to_string())),
                requests: &|seed| Box::new(Workload::seed(seed, rate_rps)),
            };
            scene.row(plan, *name, &metric(figure))
        })
        .collect()
}

pub(super) fn balancing(plan: &Plan) -> Experiment {
    Experiment {
        name: "balancing",
        title: "Which rule of balancing?",
        setting: "4 equal replicas, 36 requests a second",
        requests: plan.requests,
        note: "The order, and the size of the steps, is the prototype's. The tail of the blind rules is made by a few bursts: a single seed may be \
off by half.",
        rows: rows(
            plan,
            36.0,
            || reference(4),
            |figure| {
                [
                    ("TTFT p99, ms", ttft_p99, figure),
                    ("TTFT p95, ms", ttft_p95, None),
                ]
            },
            [936.0, 328.0, 106.0, 101.0].map(Some),
        ),
    }
}

pub(super) fn slow_replica(plan: &Plan) -> Experiment {
    let servers = || {
        let mut servers = reference(3);
        let slow = Affine::new(12.0, 0.5, 0.1);
        servers.push(Box::new(Continuous::new(SEATS, slow)));
        servers
    };
    Experiment {
        name: "slow-replica",
        title: "What if one replica is slow?",
        setting: "4 replicas, one of them twice as slow, 28 requests a second",
        requests: plan.requests,
        note: "Blind rules give the slow replica a quarter of the requests, a third more than it can take: their figure is one of the length of the \
run. Rules that look at what is outstanding give it what it can take.",
        rows: rows(
            plan,
            28.0,
            servers,
            |figure| {
                [
                    ("TTFT p95, ms", ttft_p95, figure),
                    ("TTFT p99, ms", ttft_p99, None),
                ]
            },
            [None, Some(101_000.0), Some(90.0), Some(86.0)],
        ),
    }
}
