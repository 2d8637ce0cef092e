//! The same test at more and more load.

use crate::cli::{Cli, Sweep, SweepOver};
use crate::figures::{Metric, Summary};
use crate::report::Table;

/// Below this much growth of throughput for growth of load, in logarithms, more load brings no more answers.
const ELASTICITY: f64 = 0.5;

/// A point of a sweep: the load and what came of it.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) load: f64,
    pub(super) summary: Summary,
}

/// The flags of one point.
pub(super) fn at(cli: &Cli, sweep: &Sweep, load: f64) -> Cli {
    let mut cli = cli.clone();
    match sweep.over {
        SweepOver::RequestRate => cli.traffic.request_rate = load,
        SweepOver::MaxConcurrency => cli.traffic.max_concurrency = Some(load as u32),
    }
    cli
}

/// Whether the last point shows that the server is saturated: throughput grew by less than half as much as the load did.
pub(super) fn is_saturated(points: &[Point]) -> bool {
    let [.., before, after] = points else {
        return false;
    };
    let load = after.load / before.load;
    let answers = after.summary.request_throughput() / before.summary.request_throughput();
    load > 1.0 && answers.ln() / load.ln() < ELASTICITY
}

/// The table of all points.
pub(super) fn table(sweep: &Sweep, points: &[Point]) -> Table {
    let name = match sweep.over {
        SweepOver::RequestRate => "request-rate",
        SweepOver::MaxConcurrency => "max-concurrency",
    };
    let heads = [
        name,
        "req/s",
        "good/s",
        "tok/s",
        "in flight",
        "TTFT p50",
        "p99",
        "TPOT p50",
        "E2EL p50",
        "p99",
        "failed",
    ];
    let mut table = Table::new("sweep; milliseconds", heads);
    for Point { load, summary } in points {
        let cell = |value: f64| {
            if value.is_nan() {
                "-".to_owned()
            } else {
                format!("{value:.2}")
            }
        };
        let quantile = |metric, q| cell(summary.all.series(metric).quantile(q));
        table.row([
            load.to_string(),
            cell(summary.request_throughput()),
            cell(summary.goodput().unwrap_or(f64::NAN)),
            cell(summary.output_throughput()),
            cell(summary.mean_concurrency),
            quantile(Metric::Ttft, 0.5),
            quantile(Metric::Ttft, 0.99),
            quantile(Metric::Tpot, 0.5),
            quantile(Metric::E2el, 0.5),
            quantile(Metric::E2el, 0.99),
            summary.all.failed().to_string(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Ran;
    use std::time::Duration;

    fn point(load: f64, throughput: u64) -> Point {
        let ran = Ran {
            start: crate::clock::Stamp::now(),
            outcomes: Vec::new(),
            duration: Duration::from_secs(1),
            scheduled: Duration::ZERO,
            unsent: 0,
        };
        let mut summary = Summary::of(&ran, &[], true);
        summary.all.completed = throughput as usize;
        Point { load, summary }
    }

    #[test]
    fn a_server_is_saturated_where_more_load_brings_no_more_answers() {
        assert!(!is_saturated(&[point(1.0, 100)]));
        assert!(!is_saturated(&[point(1.0, 100), point(2.0, 195)]));
        assert!(!is_saturated(&[point(1.0, 100), point(2.0, 150)]));
        assert!(is_saturated(&[point(2.0, 195), point(4.0, 210)]));
        assert!(is_saturated(&[point(2.0, 195), point(4.0, 150)]));
    }
}
