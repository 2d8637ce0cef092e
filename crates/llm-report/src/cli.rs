//! The command line.

use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// Makes the exact experiments again, and one report of all results: report.html, report.md.
///
/// budget: the latency budget, techniques with what was expected and measured. loadtest: the reference load test, in process and
/// over sockets. simulation: batching policies against load, and the front end before servers; some minutes. page: the report, of all results that are there; nothing is
/// measured for it.
///
/// The exit code is 1 when a figure is not what it must be, 2 when an experiment could not be run.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "llm-report",
    bin_name = "cargo xtask report",
    version,
    max_term_width = 110
)]
pub struct Cli {
    /// Only these parts, comma-separated
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART,…")]
    pub only: Vec<Part>,

    /// The folder of the results; what is not made again is read there
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,

    /// Write nothing there: hold what is made again against what is there, times of this machine left aside
    #[arg(long)]
    pub check: bool,
}

/// What a report is made of.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Part {
    /// The latency budget
    Budget,
    /// The reference load test
    Loadtest,
    /// Batching policies against load, and the front end before servers
    Simulation,
    /// The report itself
    Page,
}

impl Cli {
    /// The parts that are asked for, in order.
    pub fn parts(&self) -> impl Iterator<Item = Part> {
        let asked = |part: &Part| self.only.is_empty() || self.only.contains(part);
        // The page last, of what the others have made.
        let all = [Part::Budget, Part::Loadtest, Part::Simulation, Part::Page];
        all.into_iter().filter(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn the_page_is_made_last_whatever_the_order_of_asking() {
        let cli = Cli::parse_from(["llm-report", "--only", "page,budget"]);
        assert_eq!(cli.parts().collect::<Vec<_>>(), [Part::Budget, Part::Page]);
        assert_eq!(Cli::parse_from(["llm-report"]).parts().count(), 4);
    }
}
