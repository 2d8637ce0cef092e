//! The command line.

use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// The exact experiments run again, into results/*.json.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "llm-report",
    bin_name = "cargo xtask report",
    version,
    max_term_width = 110
)]
pub struct Cli {
    /// Only these (comma-separated)
    #[arg(long, value_enum, value_delimiter = ',')]
    pub only: Vec<Part>,

    /// The folder of the results
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
}

/// What a report is made of.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Part {
    /// The latency budget
    Budget,
}
