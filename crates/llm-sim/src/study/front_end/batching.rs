//! Requests of one forward each: embeddings.

use super::{
    Experiment, Plan, Row,
    run::{Metric, Played, Scene, Start},
};
use crate::{
    cost::Affine,
    front::{Batching, Direct, Front, Window},
    server::{Padding, Server, Static},
    workload::{Arrivals, Length, Workload},
};

pub(super) fn embeddings(plan: &Plan) -> Experiment {
    let metrics: [Metric; 3] = [
        (
            "E2E p50, ms",
            |played: &Played| played.report.latency.e2e.quantile(0.5),
            None,
        ),
        (
            "E2E p99, ms",
            |played: &Played| played.report.latency.e2e.quantile(0.99),
            None,
        ),
        (
            "items a batch",
            |played: &Played| {
                let steps: u64 = played.servers.iter().map(|stats| stats.steps).sum();
                played.report.counts.done as f64 / steps.max(1) as f64
            },
            None,
        ),
    ];
    let row = |variant: String, rate_rps: f64, batch: Option<(usize, Window)>| -> Row {
        let scene = Scene {
            start: Start::Warm,
            // 6 + 1.2·b ms a forward; it takes what is there at once.
            servers: &|_| {
                let forward = Affine::new(6.0, 1.2, 0.0);
                let seats = batch.map_or(1, |(items, _)| items);
                vec![Box::new(Static::new(seats, 0.0, Padding::Padded, forward)) as Box<dyn Server>]
            },
            front: &|_| match batch {
                None => Box::new(Direct::default()) as Box<dyn Front>,
                Some((items, window)) => Box::new(Batching::new(Direct::default(), items, window)),
            },
            requests: &|seed| {
                let workload = Workload::new(&format!("embed:{seed}"), Arrivals::poisson(rate_rps));
                Box::new(
                    workload
                        .prompt(Length::constant(0))
                        .output(Length::constant(1)),
                )
            },
        };
        scene.row(plan, variant, &metrics)
    };
    let mut rows = Vec::new();
    for rate in [20.0, 120.0, 400.0] {
        for (name, batch) in [
            ("one by one", None),
            ("8 items, 6 ms", Some((8, Window::Fixed(6.0)))),
            (
                "8 items, 6 ms while busy",
                Some((8, Window::WhileBusy(6.0))),
            ),
        ] {
            if rate < 130.0 || batch.is_some() {
                rows.push(row(format!("{rate}/s, {name}"), rate, batch));
            }
        }
    }
    Experiment {
        name: "batching",
        title: "What does the batcher buy where a request is one forward?",
        setting: "one server, 6 + 1.2·b ms a forward of b items (139 a second one by one, 513 in batches of 8)",
        requests: plan.requests,
        note: "Waiting for company costs the window while the server is idle, and nothing when it waits only while busy; under load both fill \
batches, and the batcher carries three times what one by one can.",
        rows,
    }
}
