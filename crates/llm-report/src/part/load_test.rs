//! The reference load test, in process and over sockets.

use super::Findings;
use crate::BoxError;
use crate::compare::differences;
use crate::results::{Get, Results};
use clap::Parser;
use llm_bench::cli::Cli;
use llm_bench::report::Report;
use llm_bench::scenario;
use serde_json::Value;

const FILE: &str = "loadtest.json";

pub(super) fn make(results: &Results) -> Result<Findings, BoxError> {
    let report = run()?;
    report.write(&results.file(FILE))?;
    Ok(failed(&report))
}

pub(super) fn check(kept: &Results, made: &Results) -> Result<Findings, BoxError> {
    let report = run()?;
    report.write(&made.file(FILE))?;
    let mut findings = failed(&report);
    let (kept, made) = (exact(kept)?, exact(made)?);
    findings.extend(
        differences(&kept, &made)
            .into_iter()
            .map(|place| format!("{FILE}, in process{place}")),
    );
    Ok(findings)
}

fn run() -> Result<Report, BoxError> {
    let cli = Cli::try_parse_from(["llm-bench", "--scenario", "reference"])?;
    let experiment = cli
        .experiment()
        .ok_or("llm-bench has no scenario `reference`")?;
    let report = scenario::run(&experiment)?;
    report.print();
    Ok(report)
}

fn failed(report: &Report) -> Findings {
    report.failed().map(ToString::to_string).collect()
}

/// The runs in process: all of it is exact, times included.
fn exact(results: &Results) -> Result<Value, BoxError> {
    let result = results.read(FILE)?.unwrap_or_default();
    let in_process = result
        .list("/measured")
        .iter()
        .filter(|run| run.text("/place") == "in process");
    Ok(in_process.cloned().collect())
}
