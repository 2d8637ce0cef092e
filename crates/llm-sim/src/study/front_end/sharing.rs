//! Requests that repeat: single flight and the cache.

use std::sync::Arc;

use super::{
    Experiment, Plan,
    run::{Metric, Played, Requests, Scene, Start, e2e_p95_s, reference, ttft_p95},
};
use crate::{
    front::{Balance, Cache, CacheConfig, Coalesce, Direct, Front},
    workload::{Arrivals, Workload, Zipf},
};

/// What stands before the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    None,
    Coalesce,
    Cache,
    /// In the product's order: single flight, then the cache.
    Both,
}

impl Sharing {
    pub(super) const ALL: [Self; 4] = [Self::None, Self::Coalesce, Self::Cache, Self::Both];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "neither",
            Self::Coalesce => "single flight",
            Self::Cache => "cache",
            Self::Both => "both",
        }
    }

    pub(super) fn front(self, seed: u64) -> Box<dyn Front> {
        let direct = Direct::new(Balance::LeastOutstanding, &seed.to_string());
        let cache = |inner| Cache::new(inner, CacheConfig::default(), &seed.to_string());
        match self {
            Self::None => Box::new(direct),
            Self::Coalesce => Box::new(Coalesce::new(direct)),
            Self::Cache => Box::new(cache(direct)),
            Self::Both => Box::new(Coalesce::new(cache(direct))),
        }
    }
}

/// Questions by Zipf's law.
pub(super) fn questions(zipf: &Arc<Zipf>, seed: u64, rate_rps: f64) -> Requests {
    // The same stream at every load, only faster.
    let workload = Workload::new(&format!("zipf:{seed}"), Arrivals::poisson(rate_rps));
    Box::new(workload.popularity(Arc::clone(zipf)))
}

pub(super) fn zipf(plan: &Plan) -> Experiment {
    // Where the queue grows without end its figure is one of the length of the run.
    let plan = Plan {
        requests: plan.requests.min(8000),
        ..*plan
    };
    let law = Arc::new(Zipf::new(10_000, 1.0));
    let prototype = [202.0, 13.3, 3.40, 2.97];
    let rows = Sharing::ALL
        .into_iter()
        .zip(prototype)
        .map(|(sharing, figure)| {
            let metrics: [Metric; 4] = [
                ("E2E p95, s", e2e_p95_s, Some(figure)),
                ("TTFT p95, ms", ttft_p95, None),
                (
                    "generations saved, %",
                    |played: &Played| 100.0 * played.saved(),
                    None,
                ),
                (
                    "seats used, %",
                    |played: &Played| 100.0 * played.seats(),
                    None,
                ),
            ];
            let scene = Scene {
                start: Start::Cold,
                servers: &|_| reference(1),
                front: &|seed| sharing.front(seed),
                requests: &|seed| questions(&law, seed, 16.0),
            };
            scene.row(&plan, sharing.name(), &metrics)
        });
    Experiment {
        name: "zipf",
        title: "What are single flight and a cache worth where questions repeat?",
        setting: "one server, 16 requests a second, 10,000 questions by Zipf's law (s = 1), a cache that is empty at first and has no limit",
        requests: plan.requests,
        note: "Neither keeps up without a cache: 16 requests a second are half as many again as the server can take, and \
its figure is one of the length of the run. Single flight alone turns an overload without end into a queue that \
lasts: the longer answers take, the more requests find one under way. With a cache it has little left to do.",
        rows: rows.collect(),
    }
}
