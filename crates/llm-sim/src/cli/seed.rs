//! `--preset seed`: the reference's table, and ours beside it.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Serialize;

use super::output::{Output, Progress, Table, interval};
use crate::{
    error::Error,
    front::Balance,
    metrics::{Interval, Limits},
    plot::{Chart, Line, Scale},
    reference::{self, Policy, Row},
    study::{self, Point, Setup},
    workload::{Arrivals, Workload},
};

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The preset: `seed` is the reference's accelerator, policies and loads.
    #[arg(long, default_value = "seed", value_parser = ["seed"])]
    preset: String,
    /// Only compute the reference's table and compare it with this file, number by number.
    #[arg(long)]
    check: Option<PathBuf>,
    /// Seeds of our own table.
    #[arg(long, default_value_t = 30)]
    seeds: u64,
    /// Requests a run of our own table.
    #[arg(long, default_value_t = 20_000)]
    requests: usize,
    /// Requests a run of the stationary capacities.
    #[arg(long, default_value_t = 50_000)]
    capacity_requests: usize,
}

/// What `results/batching.json` holds: the reference's shape, then ours.
#[derive(Debug, Serialize)]
struct Results {
    command: String,
    cost_model: CostModel,
    requests_per_point: usize,
    seeds: Vec<u64>,
    slo_p95_latency_s: f64,
    max_rate_within_slo: BTreeMap<&'static str, Option<f64>>,
    curves: BTreeMap<&'static str, Vec<Row>>,
    ours: Ours,
}

#[derive(Debug, Serialize)]
struct CostModel {
    step_ms: f64,
    per_seq_ms: f64,
    prefill_ms_per_token: f64,
    max_batch: u32,
}

#[derive(Debug, Serialize)]
struct Ours {
    about: &'static str,
    seeds: u64,
    requests_per_point: usize,
    warm_up_requests: u64,
    saturated_tokens_per_s: BTreeMap<&'static str, f64>,
    stationary_capacity_rps: BTreeMap<&'static str, Interval>,
    curves: BTreeMap<&'static str, Vec<Point>>,
}

const ABOUT: &str = "means over the seeds with 95 % intervals; `stationary` is false where the \
load exceeds what the server can do, so that latencies grow with the length of the run; \
stationary capacity is the load at which the 95th percentile of latency reaches the limit in the \
long run";

const POLICIES: [Policy; 4] = [
    Policy::Sequential,
    Policy::Static,
    Policy::Unpadded,
    Policy::Continuous,
];

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Error> {
    let table = reference::table();
    if let Some(file) = &args.check {
        return check(&table, file, output);
    }
    let mut text = Table::new([
        "policy", "req/s", "done/s", "tok/s", "p50 s", "p95 s", "used",
    ]);
    for curve in &table {
        for row in &curve.rows {
            text.row([
                curve.policy.to_owned(),
                row.rate_rps.to_string(),
                row.throughput_rps.to_string(),
                row.output_tokens_per_s.to_string(),
                row.latency_p50_s.to_string(),
                row.latency_p95_s.to_string(),
                row.slot_utilisation.to_string(),
            ]);
        }
    }
    output.line("The reference's table: 1,500 requests, seeds 0, 1, 2")?;
    output.line(&text.to_string())?;
    let ours = ours(args);
    print(&ours, output)?;
    plots(&ours, output)?;
    let results = Results {
        command: command(args),
        cost_model: CostModel {
            step_ms: 6.0,
            per_seq_ms: 0.25,
            prefill_ms_per_token: 0.05,
            max_batch: reference::SEATS,
        },
        requests_per_point: reference::REQUESTS,
        seeds: reference::SEEDS.to_vec(),
        slo_p95_latency_s: reference::LIMIT_S,
        max_rate_within_slo: table
            .iter()
            .map(|curve| (curve.policy, curve.capacity()))
            .collect(),
        curves: table
            .into_iter()
            .map(|curve| (curve.policy, curve.rows))
            .collect(),
        ours,
    };
    output.save("batching.json", &results)?;
    output.value(&results)
}

/// The command that makes these results.
fn command(args: &Args) -> String {
    let Args {
        preset,
        check: _,
        seeds,
        requests,
        capacity_requests,
    } = args;
    format!(
        "cargo xtask sim --preset {preset} --seeds {seeds} --requests {requests} \
         --capacity-requests {capacity_requests}"
    )
}

fn check(table: &[reference::Curve], file: &PathBuf, output: &mut Output) -> Result<(), Error> {
    let published = std::fs::read_to_string(file).map_err(|source| Error::read(file, source))?;
    let (compared, mismatches) = reference::check(table, &published)?;
    for mismatch in &mismatches {
        output.line(&mismatch.to_string())?;
    }
    output.line(&format!(
        "{} of {compared} numbers equal",
        compared - mismatches.len()
    ))?;
    if mismatches.is_empty() && compared > 0 {
        Ok(())
    } else {
        Err(Error::new(format!(
            "{} of {compared} numbers differ",
            mismatches.len()
        )))
    }
}

fn setup<'a>(
    policy: &'a dyn Fn() -> Box<dyn crate::server::Server>,
    workload: &'a dyn Fn(u64, f64) -> Box<dyn Iterator<Item = crate::workload::Request> + 'a>,
    requests: usize,
    seeds: u64,
) -> Setup<'a> {
    Setup {
        server: policy,
        workload,
        replicas: 1,
        balance: Balance::RoundRobin,
        requests,
        warm_up: requests as u64 / 10,
        seeds,
        limits: Limits::default(),
    }
}

fn ours(args: &Args) -> Ours {
    let mut ours = Ours {
        about: ABOUT,
        seeds: args.seeds,
        requests_per_point: args.requests,
        warm_up_requests: args.requests as u64 / 10,
        saturated_tokens_per_s: BTreeMap::new(),
        stationary_capacity_rps: BTreeMap::new(),
        curves: BTreeMap::new(),
    };
    for policy in POLICIES {
        let server = || policy.server();
        // The same stream at every load, only faster: differences between loads are not chance.
        let workload = |seed: u64, rate: f64| {
            let workload = Workload::new(&format!("ours:{seed}"), Arrivals::poisson(rate));
            Box::new(workload) as Box<dyn Iterator<Item = crate::workload::Request>>
        };
        let saturated = setup(&server, &workload, 200_000, 1);
        let (report, _) = saturated.run(0, 1e9);
        let capacity_rps = report.requests_per_s();
        ours.saturated_tokens_per_s
            .insert(policy.name(), report.tokens_per_s());
        let mut progress = Progress::new(policy.name());
        let points = study::sweep(
            &setup(&server, &workload, args.requests, args.seeds),
            &reference::LOADS,
            capacity_rps,
            |done, of| progress.at(done, of),
        );
        ours.curves.insert(policy.name(), points);
        let capacity = study::stationary_capacity(
            &setup(&server, &workload, args.capacity_requests, args.seeds),
            reference::LIMIT_S * 1000.0,
            capacity_rps,
            |done, of| progress.at(done, of),
        );
        ours.stationary_capacity_rps.insert(policy.name(), capacity);
    }
    ours
}

fn print(ours: &Ours, output: &mut Output) -> Result<(), Error> {
    output.line(&format!(
        "Ours: {} requests, {} seeds, 95 % intervals; * where the queue grows without end",
        ours.requests_per_point, ours.seeds
    ))?;
    let mut text = Table::new(["policy", "req/s", "tok/s", "p50 s", "p95 s", "seats used %"]);
    for (policy, points) in &ours.curves {
        for point in points {
            let star = if point.stationary { "" } else { "*" };
            text.row([
                (*policy).to_owned(),
                format!("{}{star}", point.rate_rps),
                interval(point.output_tokens_per_s, 1),
                interval(point.latency_p50_s, 3),
                interval(point.latency_p95_s, 3),
                format!(
                    "{:.0}",
                    100.0 * point.seats.mean / f64::from(reference::SEATS)
                ),
            ]);
        }
    }
    output.line(&text.to_string())?;
    let mut text = Table::new(["policy", "p95 ≤ 10 s up to, req/s", "saturated, tok/s"]);
    for (policy, capacity) in &ours.stationary_capacity_rps {
        let saturated = ours
            .saturated_tokens_per_s
            .get(policy)
            .copied()
            .unwrap_or(0.0);
        text.row([
            (*policy).to_owned(),
            interval(*capacity, 3),
            format!("{saturated:.1}"),
        ]);
    }
    output.line(&text.to_string())
}

fn plots(ours: &Ours, output: &mut Output) -> Result<(), Error> {
    let chart = |title: &str, y: &str, scale: Scale, of: &dyn Fn(&Point) -> Option<Interval>| {
        let start = Chart::new(title, "load, requests a second", y).scale(scale);
        ours.curves.iter().fold(start, |chart, (policy, points)| {
            let line = points.iter().filter_map(|point| {
                let value = of(point)?;
                Some((point.rate_rps, value.mean, value.half_width))
            });
            chart.line(Line::new(*policy, line.collect()))
        })
    };
    let latency = chart(
        "Latency against load (stationary loads, 95 % intervals)",
        "95th percentile, seconds",
        Scale::Logarithmic,
        &|point| point.stationary.then_some(point.latency_p95_s),
    );
    output.save_text("plots/batching_latency.svg", &latency.svg())?;
    let seats = chart("Seats used", "sequences a step", Scale::Linear, &|point| {
        Some(point.seats)
    });
    output.save_text("plots/batching_seats.svg", &seats.svg())?;
    let throughput = chart(
        "Throughput",
        "output tokens a second",
        Scale::Linear,
        &|point| Some(point.output_tokens_per_s),
    );
    output.save_text("plots/batching_throughput.svg", &throughput.svg())
}
