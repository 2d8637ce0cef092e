//! More than the server can take.

use super::{
    Experiment, Plan, Row,
    run::{Metric, Played, Scene, Start, e2e_p95_s, reference, ttft_p95},
};
use crate::{
    front::{Admission, Balance, Direct, Front},
    workload::Workload,
};

pub(super) fn admission(plan: &Plan) -> Experiment {
    let metrics: [Metric; 4] = [
        ("TTFT p95, ms", ttft_p95, None),
        ("E2E p95, s", e2e_p95_s, None),
        (
            "good answers/s",
            |played: &Played| played.report.latency.good as f64 / played.report.span_s(),
            None,
        ),
        (
            "turned away, %",
            |played: &Played| {
                let counts = &played.report.counts;
                100.0 * counts.rejected as f64 / counts.arrived.max(1) as f64
            },
            None,
        ),
    ];
    let row = |variant: &str, queue: Option<(usize, f64)>| -> Row {
        let scene = Scene {
            start: Start::Warm,
            servers: &|_| reference(1),
            front: &|seed| {
                let direct = Direct::new(Balance::LeastOutstanding, &seed.to_string());
                match queue {
                    None => Box::new(direct) as Box<dyn Front>,
                    Some((queue, wait_ms)) => {
                        Box::new(Admission::new(direct, 32).queue(queue).wait_ms(wait_ms))
                    }
                }
            },
            requests: &|seed| Box::new(Workload::seed(seed, 12.0)),
        };
        scene.row(plan, variant, &metrics)
    };
    Experiment {
        name: "admission",
        title: "What should happen to more than the server can take?",
        setting: "one server, 12 requests a second (114 % of what it can take); 32 admitted at a time; good: TTFT < 0.5 s, TPOT < 50 ms",
        requests: plan.requests,
        note: "Without a limit every answer comes too late. A bounded queue alone bounds the delay and still serves nobody in time: who is \
served has waited for all of it. A limit on the wait serves the most in time.",
        rows: vec![
            row("everything waits", None),
            row(
                "64 wait, the rest is turned away",
                Some((64, f64::INFINITY)),
            ),
            row("64 wait, 400 ms at most", Some((64, 400.0))),
            row("nobody waits", Some((0, f64::INFINITY))),
        ],
    }
}
