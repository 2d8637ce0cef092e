//! The headline: what single flight saves, against load.

use std::sync::Arc;

use serde::Serialize;

use super::{
    Plan,
    run::{Played, Scene, Start, e2e_p95_s, reference, stationary},
    sharing::{Sharing, questions},
};
use crate::{metrics::Interval, workload::Zipf};

/// One load, before one front.
#[derive(Clone, Debug, Serialize)]
pub struct Savings {
    /// What stands before the server.
    pub front: &'static str,
    /// Offered load, requests a second.
    pub rate_rps: f64,
    /// Whether the server keeps up; where it does not, latencies grow with the length of the run.
    pub stationary: bool,
    /// The share of requests that no generation was made for.
    pub saved: Interval,
    /// 95th percentile of latency, seconds.
    pub e2e_p95_s: Interval,
}

/// Single flight, the cache, both and neither, at every load; `progress` is told how many of how many
/// are done.
pub fn savings(plan: &Plan, loads: &[f64], mut progress: impl FnMut(usize, usize)) -> Vec<Savings> {
    let law = Arc::new(Zipf::new(10_000, 1.0));
    let mut points = Vec::new();
    for sharing in Sharing::ALL {
        for &rate_rps in loads {
            let scene = Scene {
                start: Start::Warm,
                servers: &|_| reference(1),
                front: &|seed| sharing.front(seed),
                requests: &|seed| questions(&law, seed, rate_rps),
            };
            let played = scene.play_all(plan);
            let over = |of: fn(&Played) -> f64| {
                let values: Vec<f64> = played.iter().map(of).collect();
                Interval::of(&values)
            };
            points.push(Savings {
                front: sharing.name(),
                rate_rps,
                stationary: stationary(&played),
                saved: over(Played::saved),
                e2e_p95_s: over(e2e_p95_s),
            });
            progress(points.len(), loads.len() * Sharing::ALL.len());
        }
    }
    points
}
