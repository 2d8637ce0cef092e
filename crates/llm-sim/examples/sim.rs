//! The command line: `cargo run --release -p llm-sim --features full --example sim -- --help`.

use clap::Parser;

/// Simulate LLM serving.
#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    args: llm_sim::cli::Args,
}

fn main() -> Result<(), llm_sim::error::Error> {
    llm_sim::cli::run(&Cli::parse().args)
}
