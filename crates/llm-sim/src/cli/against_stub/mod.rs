//! `against-stub`: the simulation beside the stub that replays it, over sockets.
//!
//! The same requests, the same lengths, the same arrivals: an open-loop client on an absolute schedule
//! sends them to `llm-front stub --cost-model`, in real time, and the simulation plays them. What is
//! left between the two is what sockets, timers and the machine add.

mod client;
mod stub;

use std::path::PathBuf;

use serde::Serialize;

use self::{client::Answer, stub::Process};
use super::output::{Output, Table};
use crate::{
    cost::{Preset, presets},
    engine::Simulation,
    error::Error,
    front::{Balance, Direct},
    metrics::Limits,
    server::Completion,
    study::{self, Setup},
    workload::{Arrivals, Request, Workload},
};

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The accelerator and model that is simulated and replayed.
    #[arg(long, default_value = "seed")]
    preset: String,
    /// Loads, percent of what the server can take.
    #[arg(long, value_delimiter = ',', default_value = "50,80")]
    loads: Vec<f64>,
    /// Seconds of arrivals at each load.
    #[arg(long, default_value_t = 40.0)]
    seconds: f64,
    /// The difference of the mean latencies that is too much, percent.
    #[arg(long, default_value_t = 3.0)]
    tolerance: f64,
    /// The `llm-front` that serves the stub [default: the one beside this program]
    #[arg(long)]
    front: Option<PathBuf>,
    /// Fail when a difference is too much, and write no file.
    #[arg(long)]
    check: bool,
}

/// What `results/sim_against_stub.json` holds.
#[derive(Debug, Serialize)]
struct Results {
    command: String,
    about: &'static str,
    preset: &'static str,
    capacity_rps: f64,
    tolerance_percent: f64,
    loads: Vec<Compared>,
}

/// One load: the stub beside the simulation.
#[derive(Debug, Serialize)]
struct Compared {
    load_percent: f64,
    rate_rps: f64,
    requests: usize,
    e2e_mean_s: Pair,
    e2e_p95_s: Pair,
    ttft_mean_ms: Pair,
    /// The mean over the requests of how far each one's latency is off, percent.
    e2e_mape_percent: f64,
    /// How late the client sent, on average and at worst, milliseconds.
    sent_late_ms: [f64; 2],
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Pair {
    stub: f64,
    simulation: f64,
    difference_percent: f64,
}

const ABOUT: &str = "the same requests at the same times through `llm-front stub --cost-model`, over sockets \
and in real time, and through the simulation; latencies count from the scheduled arrival";

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Error> {
    let preset = presets::find(&args.preset)
        .ok_or_else(|| Error::new(format!("no preset {:?}: see `presets`", args.preset)))?;
    let capacity_rps = capacity(preset);
    let process = Process::start(args.front.as_deref(), preset.name)?;
    let mut loads = Vec::new();
    for &percent in &args.loads {
        let rate_rps = capacity_rps * percent / 100.0;
        let requests: Vec<Request> = Workload::new(
            &format!("against-stub:{percent}"),
            Arrivals::poisson(rate_rps),
        )
        .take_while(|request| request.arrival_ms < args.seconds * 1000.0)
        .collect();
        let simulated = simulate(preset, &requests);
        let answers = client::play(process.address, &requests)?;
        loads.push(Compared::new(percent, rate_rps, &answers, &simulated));
    }
    drop(process);
    print(&loads, output)?;
    let worst = loads
        .iter()
        .map(|load| load.e2e_mean_s.difference_percent.abs())
        .fold(0.0, f64::max);
    let results = Results {
        command: format!(
            "cargo xtask sim against-stub --preset {} --seconds {}",
            preset.name, args.seconds
        ),
        about: ABOUT,
        preset: preset.name,
        capacity_rps,
        tolerance_percent: args.tolerance,
        loads,
    };
    if !args.check {
        output.save("sim_against_stub.json", &results)?;
    }
    output.value(&results)?;
    match worst <= args.tolerance {
        true => Ok(()),
        false => Err(Error::new(format!(
            "the stub and the simulation differ by {worst:.1} %, more than {} %",
            args.tolerance
        ))),
    }
}

/// Requests a second that the server can take.
fn capacity(preset: &Preset) -> f64 {
    study::capacity(&Setup {
        server: &|| preset.server(None),
        workload: &|seed, rate| Box::new(Workload::new(&seed.to_string(), Arrivals::poisson(rate))),
        replicas: 1,
        balance: Balance::RoundRobin,
        requests: 20_000,
        warm_up: 0,
        seeds: 1,
        limits: Limits::default(),
    })
}

/// The simulation of these requests, in their order.
fn simulate(preset: &Preset, requests: &[Request]) -> Vec<Completion> {
    let mut done: Vec<Completion> = Vec::new();
    let mut sim = Simulation::new(vec![preset.server(None)], Direct::default());
    sim.run_into(requests.iter().cloned(), &mut done);
    done.sort_by_key(|done| done.request.id);
    done
}

// === impl Compared ===

impl Compared {
    fn new(load_percent: f64, rate_rps: f64, answers: &[Answer], done: &[Completion]) -> Self {
        let both = || answers.iter().zip(done);
        let mean = |of: &dyn Fn((&Answer, &Completion)) -> f64| {
            both().map(of).sum::<f64>() / answers.len().max(1) as f64
        };
        let p95 = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            crate::metrics::percentile(&values, 0.95) / 1000.0
        };
        Self {
            load_percent,
            rate_rps,
            requests: answers.len(),
            e2e_mean_s: Pair::new(
                mean(&|(answer, _)| answer.e2e_ms) / 1000.0,
                mean(&|(_, done)| done.e2e_ms()) / 1000.0,
            ),
            e2e_p95_s: Pair::new(
                p95(answers.iter().map(|answer| answer.e2e_ms).collect()),
                p95(done.iter().map(Completion::e2e_ms).collect()),
            ),
            ttft_mean_ms: Pair::new(
                mean(&|(answer, _)| answer.ttft_ms),
                mean(&|(_, done)| done.ttft_ms()),
            ),
            e2e_mape_percent: 100.0
                * mean(&|(answer, done)| (answer.e2e_ms / done.e2e_ms() - 1.0).abs()),
            sent_late_ms: [
                mean(&|(answer, _)| answer.late_ms),
                answers
                    .iter()
                    .map(|answer| answer.late_ms)
                    .fold(0.0, f64::max),
            ],
        }
    }
}

// === impl Pair ===

impl Pair {
    fn new(stub: f64, simulation: f64) -> Self {
        Self {
            stub,
            simulation,
            difference_percent: 100.0 * (stub / simulation - 1.0),
        }
    }
}

fn print(loads: &[Compared], output: &mut Output) -> Result<(), Error> {
    let mut table = Table::new([
        "load",
        "req/s",
        "requests",
        "",
        "stub",
        "simulation",
        "difference",
    ]);
    for load in loads {
        let rows = [
            ("E2E mean, s", load.e2e_mean_s),
            ("E2E p95, s", load.e2e_p95_s),
            ("TTFT mean, ms", load.ttft_mean_ms),
        ];
        for (name, pair) in rows {
            table.row([
                format!("{} %", load.load_percent),
                format!("{:.2}", load.rate_rps),
                load.requests.to_string(),
                name.to_owned(),
                format!("{:.3}", pair.stub),
                format!("{:.3}", pair.simulation),
                format!("{:+.2} %", pair.difference_percent),
            ]);
        }
    }
    output.line(&table.to_string())?;
    for load in loads {
        output.line(&format!(
            "at {} %: each request off by {:.2} % on average; sent {:.2} ms late on average, {:.1} ms at worst",
            load.load_percent, load.e2e_mape_percent, load.sent_late_ms[0], load.sent_late_ms[1]
        ))?;
    }
    Ok(())
}
