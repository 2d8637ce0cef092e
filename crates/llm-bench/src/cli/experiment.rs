//! Experiments on llm-front.

use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Run this experiment on llm-front
    #[arg(long, help_heading = "Experiments on llm-front", conflicts_with_all = ["target", "dataset", "traffic", "results"])]
    scenario: Option<Name>,

    /// Where the figures go, as JSON [default: results/loadtest.json for reference, results/SCENARIO.json for the others]
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Experiments on llm-front",
        requires = "scenario"
    )]
    out: Option<PathBuf>,

    /// The llm-front binary [default: the one beside this program]
    #[arg(
        long,
        value_name = "PATH",
        help_heading = "Experiments on llm-front",
        requires = "scenario"
    )]
    front: Option<PathBuf>,

    /// reference, followers: runs of the whole experiment [default: 20 for reference, 5 for followers]
    #[arg(long, help_heading = "Experiments on llm-front", requires = "scenario", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: Option<u32>,

    /// overhead: requests on each path in each round [default: 6000]
    #[arg(long, help_heading = "Experiments on llm-front", requires = "scenario", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    requests: Option<u32>,

    /// overhead: rounds, in each of which every path has its turn [default: 7]
    #[arg(long, help_heading = "Experiments on llm-front", requires = "scenario", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,

    /// herd: identical requests at once [default: 10000]
    #[arg(long, help_heading = "Experiments on llm-front", requires = "scenario", value_parser = clap::value_parser!(u32).range(2..=50_000))]
    callers: Option<u32>,
}

/// The experiments.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Name {
    /// Exact counts
    Reference,
    /// CPU time, first byte, memory
    Overhead,
    /// Thousands of identical requests at once
    Herd,
    /// Callers who join
    Followers,
    /// The load generator itself
    Generator,
}

impl Name {
    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Overhead => "overhead",
            Self::Herd => "herd",
            Self::Followers => "followers",
            Self::Generator => "generator",
        }
    }
}

/// An experiment, and how it is to be run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Which.
    pub name: Name,
    /// Whether figures are held to their marks.
    pub check: bool,
    /// Where the figures shall go.
    pub out: Option<PathBuf>,
    /// The llm-front binary, where it is not beside this program.
    pub front: Option<PathBuf>,
    /// Runs of the whole experiment.
    pub runs: u32,
    /// Requests on each path in each round.
    pub requests: u32,
    /// Rounds.
    pub rounds: u32,
    /// Identical requests at once.
    pub callers: u32,
}

impl Args {
    pub(super) fn experiment(&self, check: bool) -> Option<Experiment> {
        let name = self.scenario?;
        Some(Experiment {
            name,
            check,
            out: self.out.clone(),
            front: self.front.clone(),
            runs: self
                .runs
                .unwrap_or(if name == Name::Followers { 5 } else { 20 }),
            requests: self.requests.unwrap_or(6000),
            rounds: self.rounds.unwrap_or(7),
            callers: self.callers.unwrap_or(10_000),
        })
    }
}

impl Experiment {
    /// The command that runs the same again.
    #[must_use]
    pub fn again(&self) -> String {
        let scenario = self.name.word();
        let rest = match self.name {
            Name::Reference | Name::Followers => format!(" --runs {}", self.runs),
            Name::Overhead => format!(" --requests {} --rounds {}", self.requests, self.rounds),
            Name::Herd => format!(" --callers {}", self.callers),
            Name::Generator => String::new(),
        };
        format!("cargo xtask bench --scenario {scenario}{rest}")
    }

    /// Where the figures go, if anywhere.
    #[must_use]
    pub fn out(&self) -> Option<PathBuf> {
        let default = || match self.name {
            Name::Reference => PathBuf::from("results/loadtest.json"),
            other => PathBuf::from(format!("results/{}.json", other.word())),
        };
        self.out.clone().or_else(|| (!self.check).then(default))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::Parser;

    fn parse(line: &str) -> Experiment {
        let cli = Cli::parse_from(std::iter::once("llm-bench").chain(line.split(' ')));
        cli.experiment().unwrap()
    }

    #[test]
    fn a_check_leaves_the_results_alone_unless_told_where_to_write() {
        assert_eq!(
            parse("--scenario reference").out(),
            Some("results/loadtest.json".into())
        );
        assert_eq!(parse("--scenario reference --check").out(), None);
        assert_eq!(
            parse("--scenario herd --check --out a.json").out(),
            Some("a.json".into())
        );
    }

    #[test]
    fn the_command_names_all_that_changes_the_figures() {
        let experiment = parse("--scenario overhead --rounds 3 --check");
        assert_eq!(
            experiment.again(),
            "cargo xtask bench --scenario overhead --requests 6000 --rounds 3"
        );
        assert_eq!(
            parse("--scenario reference").again(),
            "cargo xtask bench --scenario reference --runs 20"
        );
    }
}
