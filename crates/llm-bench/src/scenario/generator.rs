//! What the load generator itself can do: how many requests a second on one core, and how late it is.
//!
//! It has CPU 1 for itself, both threads; the upstream, in a process of its own on CPU 0, answers at once. Arrivals are a
//! Poisson process, drawn before the run.

use crate::BoxError;
use crate::arrivals::{Arrivals, Burstiness};
use crate::cli::Experiment;
use crate::figures::{Metric, Summary};
use crate::load::{Load, Pacing, Target, run as load};
use crate::process::{Child, cpu_time, free_port, pin_this_process};
use crate::report::{Check, Machine, Report, Table, progress};
use crate::workload::{Dialect, Endpoint, Form, Lengths, Random};
use nix::unistd::Pid;
use serde_json::{Map, json};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// The CPU of the upstream.
const THEIRS: usize = 0;

/// The CPU of this process.
const OURS: usize = 1;

/// Requests a second; the one that is held to marks, and what else is tried.
const MARK: f64 = 20_000.0;
const RATES: [f64; 3] = [1_000.0, 10_000.0, MARK];

/// How long each.
const TIME: Duration = Duration::from_secs(5);

/// At the mark's rate, late by no more than this at the 99th percentile.
const LAG_MS: f64 = 10.0;

/// Puts this process on a CPU of its own. Before any thread is started.
///
/// # Errors
/// There is only one CPU.
pub fn pin() -> Result<(), BoxError> {
    pin_this_process(OURS)
        .map_err(|error| format!("the generator test needs two CPUs: {error}").into())
}

/// Measures it.
///
/// # Errors
/// The upstream cannot be started.
pub async fn run(experiment: &Experiment) -> Result<Report, BoxError> {
    // An upstream that falls behind costs a connection for each request in flight.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let address = free_port()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--upstream").arg(address.to_string());
    let mut upstream = Child::start("upstream", command, Some(THEIRS), tempfile::tempdir()?)?;
    upstream.wait_for(address)?;
    let target = Target::parse(&format!("http://{address}"))?;
    let heads = [
        "form",
        "offered",
        "sent/s",
        "whole",
        "lag p50 µs",
        "p99 µs",
        "max µs",
        "E2EL p50 µs",
        "CPU µs a request",
    ];
    let mut table = Table::new(
        "the load generator on one core, Poisson arrivals, an upstream that answers at once",
        heads,
    );
    let (mut checks, mut measured) = (Vec::new(), Vec::new());
    for form in [Form::Body, Form::Stream] {
        let word = if form == Form::Stream {
            "streamed"
        } else {
            "one body"
        };
        for rate in RATES {
            progress(&format!("generator: {word}, {rate} requests a second"));
            let before = cpu_time(Pid::this())?;
            let summary = once(&target, form, rate).await?;
            let cpu =
                (cpu_time(Pid::this())? - before).as_secs_f64() * 1e6 / summary.all.requests as f64;
            let sent = summary.pace.achieved.unwrap_or(f64::NAN);
            let offered = summary.pace.offered.unwrap_or(f64::NAN);
            let lag = |q| summary.pace.lag.quantile(q) * 1e3;
            let e2el = summary.all.series(Metric::E2el).median() * 1e3;
            table.row([
                word.to_owned(),
                format!("{offered:.0}"),
                format!("{sent:.0}"),
                format!("{} of {}", summary.all.completed, summary.all.requests),
                format!("{:.0}", lag(0.5)),
                format!("{:.0}", lag(0.99)),
                format!("{:.0}", lag(1.0)),
                format!("{e2el:.0}"),
                format!("{cpu:.1}"),
            ]);
            measured.push(json!({
                "form": word, "offered": offered, "sent": sent, "requests": summary.all.requests, "whole": summary.all.completed,
                "lag_us": { "p50": lag(0.5), "p99": lag(0.99), "max": lag(1.0) }, "e2el_p50_us": e2el, "cpu_us_a_request": cpu,
            }));
            if rate == MARK {
                checks.push(Check::at_most(
                    format!("{word}: p99 lag at {rate} requests a second"),
                    LAG_MS,
                    lag(0.99) / 1e3,
                    " ms",
                ));
                checks.push(Check::at_most(
                    format!("{word}: share of the rate that was not sent"),
                    1.0,
                    (1.0 - sent / offered) * 100.0,
                    " %",
                ));
                checks.push(Check::equal(
                    format!("{word}: failed requests"),
                    0,
                    summary.all.failed(),
                ));
            }
        }
    }
    Ok(Report {
        scenario: "generator",
        command: experiment.again(),
        machine: Machine::here(),
        expected: json!({ "rate": MARK, "p99_lag_ms_at_most": LAG_MS, "share_not_sent_at_most": 0.01, "failed": 0 }),
        measured: json!(measured),
        checks,
        tables: vec![table],
        notes: vec![
            "the reading thread is on the same core, at a lower priority; its CPU time counts"
                .to_owned(),
        ],
    })
}

async fn once(target: &Target, form: Form, rate: f64) -> Result<Summary, BoxError> {
    let lengths = Lengths {
        input: 16,
        output: 16,
        range_ratio: 0.0,
        prefix: 0,
    };
    let random = Random {
        lengths,
        batch: 1,
        seed: 1,
    };
    let arrivals = Arrivals::Rate {
        rate,
        burstiness: Burstiness::Gamma(1.0),
    };
    let path = Endpoint::Chat.path();
    let dialect = Dialect::new(
        Endpoint::Chat,
        path,
        target.authority(),
        "bench",
        form,
        &[],
        &Map::new(),
    );
    let pacing = Pacing::Open(arrivals.until(TIME, 1));
    let ran = load(
        Load::new(vec![(target.clone(), dialect)], Arc::new(random), pacing),
        |_| (),
    )
    .await?;
    Ok(Summary::of(&ran, &[], true))
}
