//! Runs one experiment, prints and writes what it found.
#![forbid(unsafe_code)]

use clap::Parser;
use llm_bench::cli::Cli;
use llm_bench::report::{progress, show};
use llm_bench::{BoxError, scenario};
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
    let report = scenario::run(cli)?;
    report.print();
    if let Some(file) = cli.out() {
        report.write(&file)?;
        progress(&format!("written to {}", file.display()));
    }
    let failed: Vec<&str> = report.failed().map(|check| check.figure.as_str()).collect();
    if !cli.check || failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    show(&format!("\nnot as expected: {}", failed.join("; ")));
    Ok(ExitCode::FAILURE)
}
