//! Latency against load.

use std::fmt;

use serde::Serialize;

use crate::{
    engine::{Report, Simulation},
    front::{Balance, Direct},
    metrics::{Interval, Limits},
    server::{Server, ServerStats},
    workload::Request,
};

/// What is swept: how a server and a workload are made.
pub struct Setup<'a> {
    /// Makes one server.
    pub server: &'a dyn Fn() -> Box<dyn Server>,
    /// Makes the requests of one seed at one load (requests a second): endless.
    pub workload: &'a dyn Fn(u64, f64) -> Box<dyn Iterator<Item = Request> + 'a>,
    /// Servers.
    pub replicas: usize,
    /// How requests are dealt out to them.
    pub balance: Balance,
    /// Requests a run.
    pub requests: usize,
    /// The first of them that are not counted.
    pub warm_up: u64,
    /// Seeds.
    pub seeds: u64,
    /// What counts as a good request.
    pub limits: Limits,
}

impl Setup<'_> {
    /// One run.
    #[must_use]
    pub fn run(&self, seed: u64, rate_rps: f64) -> (Report, Vec<ServerStats>) {
        self.play(seed, (self.workload)(seed, rate_rps).take(self.requests))
    }

    /// One run of given requests.
    pub(super) fn play(
        &self,
        seed: u64,
        requests: impl Iterator<Item = Request>,
    ) -> (Report, Vec<ServerStats>) {
        let servers = (0..self.replicas).map(|_| (self.server)()).collect();
        let mut sim = Simulation::new(servers, Direct::new(self.balance, &seed.to_string()))
            .limits(self.limits)
            .warm_up(self.warm_up);
        let report = sim.run(requests);
        (report, sim.server_stats().cloned().collect())
    }
}

impl fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("replicas", &self.replicas)
            .field("balance", &self.balance)
            .field("requests", &self.requests)
            .field("seeds", &self.seeds)
            .finish_non_exhaustive()
    }
}

/// One load: means over the seeds, with 95 % intervals.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    /// Offered load, requests a second.
    pub rate_rps: f64,
    /// Whether the queue keeps up; where it does not, latencies grow with the length of the run.
    pub stationary: bool,
    /// Answered requests a second, over the whole run.
    pub throughput_rps: Interval,
    /// Output tokens a second.
    pub output_tokens_per_s: Interval,
    /// Mean latency, seconds.
    pub latency_mean_s: Interval,
    /// Median latency, seconds.
    pub latency_p50_s: Interval,
    /// 95th percentile of latency, seconds.
    pub latency_p95_s: Interval,
    /// 99th percentile of latency, seconds.
    pub latency_p99_s: Interval,
    /// 95th percentile of the time to the first token, milliseconds.
    pub ttft_p95_ms: Interval,
    /// 99th percentile of the gap between two tokens, milliseconds.
    pub itl_p99_ms: Interval,
    /// Sequences a step, on average.
    pub seats: Interval,
    /// Share of requests within the limits.
    pub goodput: Interval,
    /// Most KV blocks in use, as a mean over the seeds.
    pub kv_peak_blocks: Interval,
    /// Preemptions a thousand requests.
    pub preemptions_per_1000: Interval,
}

/// Runs every seed at every load; `progress` is told after each run how many of how many are done.
pub fn sweep(
    setup: &Setup<'_>,
    loads: &[f64],
    capacity_rps: f64,
    mut progress: impl FnMut(usize, usize),
) -> Vec<Point> {
    let runs = loads.len() * setup.seeds as usize;
    let mut done = 0;
    loads
        .iter()
        .map(|&rate_rps| {
            let reports: Vec<(Report, Vec<ServerStats>)> = (0..setup.seeds)
                .map(|seed| {
                    let run = setup.run(seed, rate_rps);
                    done += 1;
                    progress(done, runs);
                    run
                })
                .collect();
            point(rate_rps, rate_rps < capacity_rps, &reports)
        })
        .collect()
}

fn point(rate_rps: f64, stationary: bool, runs: &[(Report, Vec<ServerStats>)]) -> Point {
    let of = |metric: &dyn Fn(&Report) -> f64| {
        Interval::of(
            &runs
                .iter()
                .map(|(report, _)| metric(report))
                .collect::<Vec<_>>(),
        )
    };
    let servers = |metric: &dyn Fn(&[ServerStats]) -> f64| {
        Interval::of(
            &runs
                .iter()
                .map(|(_, servers)| metric(servers))
                .collect::<Vec<_>>(),
        )
    };
    Point {
        rate_rps,
        stationary,
        throughput_rps: of(&Report::requests_per_s),
        output_tokens_per_s: of(&Report::tokens_per_s),
        latency_mean_s: of(&|report| report.latency.e2e.mean() / 1000.0),
        latency_p50_s: of(&|report| report.latency.e2e.quantile(0.5) / 1000.0),
        latency_p95_s: of(&|report| report.latency.e2e.quantile(0.95) / 1000.0),
        latency_p99_s: of(&|report| report.latency.e2e.quantile(0.99) / 1000.0),
        ttft_p95_ms: of(&|report| report.latency.ttft.quantile(0.95)),
        itl_p99_ms: servers(&|servers| {
            let mut itl = crate::metrics::Sketch::default();
            servers.iter().for_each(|stats| itl.merge(&stats.itl));
            itl.quantile(0.99)
        }),
        seats: servers(&|servers| {
            let (seats, steps) = servers.iter().fold((0, 0), |(seats, steps), stats| {
                (seats + stats.seats, steps + stats.steps)
            });
            seats as f64 / steps.max(1) as f64
        }),
        goodput: of(&|report| report.latency.goodput()),
        kv_peak_blocks: servers(&|servers| {
            servers
                .iter()
                .map(|stats| f64::from(stats.kv_peak))
                .fold(0.0, f64::max)
        }),
        preemptions_per_1000: of(&|report| {
            1000.0 * report.counts.preemptions as f64 / report.counts.done.max(1) as f64
        }),
    }
}
