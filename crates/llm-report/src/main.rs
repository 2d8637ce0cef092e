//! Runs the exact experiments and writes what they found.
#![forbid(unsafe_code)]

use clap::Parser;
use llm_report::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    match llm_report::run(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("llm-report: {error}");
            ExitCode::from(2)
        }
    }
}
