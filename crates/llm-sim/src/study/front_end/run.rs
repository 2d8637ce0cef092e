//! One scene, played for every seed.

use super::{Measure, Row};
use crate::{
    cost::Affine,
    engine::{Report, Simulation},
    front::{Front, Tally},
    metrics::{Interval, Sketch},
    server::{Completion, Continuous, Server, ServerStats},
    workload::Request,
};

/// Seats of the reference's server.
pub(super) const SEATS: u32 = 32;

/// How much is run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Seeds: 0, 1, …
    pub seeds: u64,
    /// Requests a run, for experiments that do not say how many.
    pub requests: usize,
}

/// Which requests count towards latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// All but the first tenth.
    Warm,
    /// All, from the empty system on.
    Cold,
}

/// Endless requests.
pub(super) type Requests = Box<dyn Iterator<Item = Request>>;

/// What stands in front of what, and what arrives: each made anew for a seed.
pub(super) struct Scene<'a> {
    pub(super) start: Start,
    pub(super) servers: &'a dyn Fn(u64) -> Vec<Box<dyn Server>>,
    pub(super) front: &'a dyn Fn(u64) -> Box<dyn Front>,
    pub(super) requests: &'a dyn Fn(u64) -> Requests,
}

/// What one run has shown.
#[derive(Debug)]
pub(super) struct Played {
    pub(super) report: Report,
    pub(super) tally: Tally,
    pub(super) servers: Vec<ServerStats>,
    /// Σ of the latencies of the first, the middle and the last third of the requests, milliseconds.
    thirds: [f64; 3],
}

/// Growth of latency from the middle to the last third of a run beyond which the queue is taken to
/// grow without end: one that grows steadily from nothing has 1.67, one that lasts 1.
const GROWS: f64 = 1.3;

/// Whether latencies last, rather than grow with the length of the run.
pub(super) fn stationary(played: &[Played]) -> bool {
    let sum = |third: usize| -> f64 {
        let thirds = played.iter().filter_map(|played| played.thirds.get(third));
        thirds.sum()
    };
    sum(2) < GROWS * sum(1)
}

/// What is measured of a run, and the prototype's figure.
pub(super) type Metric = (&'static str, fn(&Played) -> f64, Option<f64>);

impl Scene<'_> {
    pub(super) fn play(&self, seed: u64, requests: usize) -> Played {
        let warm_up = match self.start {
            Start::Warm => requests as u64 / 10,
            Start::Cold => 0,
        };
        let mut sim = Simulation::new((self.servers)(seed), (self.front)(seed)).warm_up(warm_up);
        let mut thirds = [0.0; 3];
        let mut by_third = |done: &Completion| {
            let third = done.request.id * 3 / requests.max(1) as u64;
            if let Some(sum) = thirds.get_mut(third as usize) {
                *sum += done.e2e_ms();
            }
        };
        let report = sim.run_into((self.requests)(seed).take(requests), &mut by_third);
        debug_assert_eq!(report.little.area_ns(), report.little.sojourns_ns());
        Played {
            report,
            tally: Tally::of(sim.front()),
            servers: sim.server_stats().cloned().collect(),
            thirds,
        }
    }

    /// Plays every seed.
    pub(super) fn play_all(&self, plan: &Plan) -> Vec<Played> {
        let seeds = 0..plan.seeds.max(1);
        seeds.map(|seed| self.play(seed, plan.requests)).collect()
    }

    /// One row: each metric over every seed.
    pub(super) fn row(&self, plan: &Plan, variant: impl Into<String>, metrics: &[Metric]) -> Row {
        let played = self.play_all(plan);
        let measure = |(name, of, prototype): &Metric| {
            let values: Vec<f64> = played.iter().map(of).collect();
            Measure {
                name,
                ours: Interval::of(&values),
                prototype: *prototype,
            }
        };
        Row {
            variant: variant.into(),
            measures: metrics.iter().map(measure).collect(),
        }
    }
}

// === impl Played ===

impl Played {
    /// Gaps between tokens, of all servers.
    pub(super) fn itl(&self) -> Sketch {
        let mut itl = Sketch::default();
        self.servers.iter().for_each(|stats| itl.merge(&stats.itl));
        itl
    }

    /// Seats used, as a share of those there are.
    pub(super) fn seats(&self) -> f64 {
        let (seats, steps) = self.servers.iter().fold((0, 0), |(seats, steps), stats| {
            (seats + stats.seats, steps + stats.steps)
        });
        seats as f64 / steps.max(1) as f64 / f64::from(SEATS)
    }

    /// The share of requests that no generation of their own was made for.
    pub(super) fn saved(&self) -> f64 {
        1.0 - self.tally.dispatched as f64 / self.report.counts.arrived.max(1) as f64
    }
}

/// Servers of the reference.
pub(super) fn reference(servers: usize) -> Vec<Box<dyn Server>> {
    (0..servers)
        .map(|_| Box::new(Continuous::new(SEATS, Affine::SEED)) as Box<dyn Server>)
        .collect()
}

pub(super) fn ttft_p95(played: &Played) -> f64 {
    played.report.latency.ttft.quantile(0.95)
}

pub(super) fn ttft_p99(played: &Played) -> f64 {
    played.report.latency.ttft.quantile(0.99)
}

pub(super) fn e2e_p95_s(played: &Played) -> f64 {
    played.report.latency.e2e.quantile(0.95) / 1000.0
}

pub(super) fn itl_p99(played: &Played) -> f64 {
    played.itl().quantile(0.99)
}

pub(super) fn goodput(played: &Played) -> f64 {
    played.report.latency.goodput()
}
