//! The load that a server can take.

use super::Setup;
use crate::{metrics::Interval, workload::Request};

/// Requests a second of servers that always have work: their capacity, whatever the latency.
#[must_use]
pub fn capacity(setup: &Setup<'_>) -> f64 {
    // So fast that the queue is never empty before the last arrivals; and no longer than it takes,
    // because all of them wait at once.
    let requests = setup.requests.min(20_000 * setup.replicas.max(1));
    let (report, _) = setup.play(0, (setup.workload)(0, 1e9).take(requests));
    report.requests_per_s()
}

/// The load at which the 95th percentile of latency reaches `limit_ms` in the long run: an interval
/// over the seeds.
///
/// Each seed is bisected between 0 and `highest_rps` to 0.1 %: the same requests, only faster, so that
/// the percentile grows with the load and there is one crossing.
pub fn stationary_capacity(
    setup: &Setup<'_>,
    limit_ms: f64,
    highest_rps: f64,
    mut progress: impl FnMut(usize, usize),
) -> Interval {
    let seeds = setup.seeds as usize;
    let values: Vec<f64> = (0..setup.seeds)
        .map(|seed| {
            let requests: Vec<Request> = (setup.workload)(seed, 1.0).take(setup.requests).collect();
            let (mut low, mut high) = (0.0, highest_rps);
            while (high - low) > 0.001 * high {
                let middle = f64::midpoint(low, high);
                let faster = requests.iter().map(|request| Request {
                    arrival_ms: request.arrival_ms / middle,
                    ..request.clone()
                });
                let (report, _) = setup.play(seed, faster);
                if report.latency.e2e.quantile(0.95) <= limit_ms {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            progress(seed as usize + 1, seeds);
            f64::midpoint(low, high)
        })
        .collect();
    Interval::of(&values)
}
