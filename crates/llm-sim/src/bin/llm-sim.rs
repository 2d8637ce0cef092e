//! The command line: `cargo xtask sim --help`.
#![forbid(unsafe_code)]

use clap::Parser;
use std::process::ExitCode;

/// Simulate LLM serving.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask sim",
    bin_name = "cargo xtask sim",
    max_term_width = 100
)]
struct Cli {
    #[command(flatten)]
    args: llm_sim::cli::Args,
}

fn main() -> ExitCode {
    match llm_sim::cli::run(&Cli::parse().args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask sim: {error}");
            ExitCode::FAILURE
        }
    }
}
