//! Runs a load test or an experiment, prints and writes what it found.
#![forbid(unsafe_code)]

use clap::Parser;
use llm_bench::cli::{Cli, Experiment};
use llm_bench::load::Stop;
use llm_bench::report::{progress, show};
use llm_bench::{BoxError, runtime, scenario, serve, upstream};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("llm-bench: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprintln!("  because: {cause}");
                source = cause.source();
            }
            ExitCode::from(2)
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, BoxError> {
    if let Some(files) = &cli.merge {
        serve::show_merged(files)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(address) = cli.upstream {
        runtime::bounded(upstream::serve(address))?;
        return Ok(ExitCode::SUCCESS);
    }
    match cli.experiment() {
        Some(experiment) => self::experiment(&experiment),
        None => load(cli),
    }
}

fn load(cli: &Cli) -> Result<ExitCode, BoxError> {
    let stop = Stop::default();
    let verdict = runtime::stoppable(&stop, serve::run(cli, &stop))?;
    for fault in &verdict.faults {
        show(&format!("FAILED: {fault}"));
    }
    Ok(match verdict.faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn experiment(experiment: &Experiment) -> Result<ExitCode, BoxError> {
    let report = scenario::run(experiment)?;
    report.print();
    if let Some(file) = experiment.out() {
        report.write(&file)?;
        progress(&format!("written to {}", file.display()));
    }
    let failed: Vec<&str> = report.failed().map(|check| check.figure.as_str()).collect();
    if !experiment.check || failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    show(&format!("\nnot as expected: {}", failed.join("; ")));
    Ok(ExitCode::FAILURE)
}
