//! The command line.

use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// Load tests of llm-front: what it must get exactly right, and what it costs.
///
/// reference: 80 requests over 3 prompts, 16 in flight, with and without coalescing. How many are generated, answered from
/// the cache, and coalesced is exact, and so are the batches. Once in process under paused time, once over sockets against
/// the release binary.
///
/// overhead: CPU time a request (bypassed, recorded miss, exact hit) of the whole process on one core, beside nginx where it
/// is installed (proxy_pass; proxy_cache), in interleaved rounds; the first byte of a stream against the upstream's own;
/// memory when idle.
///
/// herd: 10,000 identical requests at once, streamed and not, against an upstream of 5 s: one generation.
///
/// followers: joining a stream that is half over; 50 callers of one slow answer; cache hits while the backend is saturated.
///
/// Everything stays on loopback, on free ports. The exit code is 1 when a --check fails, 2 when a test could not be run.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "llm-bench",
    bin_name = "cargo xtask bench",
    version,
    max_term_width = 110
)]
pub struct Cli {
    /// Which experiment to run
    #[arg(long)]
    pub scenario: Name,

    /// Fail (exit code 1), naming every figure that is not what it must be. Writes no file unless --out says so
    #[arg(long)]
    pub check: bool,

    /// Where the figures go, as JSON [default: results/loadtest.json for reference, results/SCENARIO.json for the others]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// The llm-front binary [default: the one beside this program]
    #[arg(long, value_name = "PATH")]
    pub front: Option<PathBuf>,

    /// Runs of the whole experiment [default: 20 for reference, 5 for followers]
    #[arg(long, help_heading = "reference, followers", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,

    /// Requests on each path in each round
    #[arg(long, help_heading = "overhead", default_value_t = 6000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub requests: u32,

    /// Rounds, in each of which every path has its turn
    #[arg(long, help_heading = "overhead", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,

    /// Identical requests at once
    #[arg(long, help_heading = "herd", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(2..=50_000))]
    pub callers: u32,
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
        }
    }
}

impl Cli {
    /// The command that runs the same again.
    #[must_use]
    pub fn again(&self) -> String {
        let scenario = self.scenario.word();
        let rest = match self.scenario {
            Name::Reference | Name::Followers => format!(" --runs {}", self.runs()),
            Name::Overhead => format!(" --requests {} --rounds {}", self.requests, self.rounds),
            Name::Herd => format!(" --callers {}", self.callers),
        };
        format!("cargo xtask bench --scenario {scenario}{rest}")
    }

    /// Runs of the whole experiment.
    #[must_use]
    pub fn runs(&self) -> u32 {
        self.runs.unwrap_or(if self.scenario == Name::Followers {
            5
        } else {
            20
        })
    }

    /// Where the figures go, if anywhere.
    #[must_use]
    pub fn out(&self) -> Option<PathBuf> {
        let default = || match self.scenario {
            Name::Reference => PathBuf::from("results/loadtest.json"),
            other => PathBuf::from(format!("results/{}.json", other.word())),
        };
        self.out.clone().or_else(|| (!self.check).then(default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Cli {
        Cli::parse_from(std::iter::once("llm-bench").chain(line.split(' ')))
    }

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
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
        let cli = parse("--scenario overhead --rounds 3 --check");
        assert_eq!(
            cli.again(),
            "cargo xtask bench --scenario overhead --requests 6000 --rounds 3"
        );
        assert_eq!(
            parse("--scenario reference").again(),
            "cargo xtask bench --scenario reference --runs 20"
        );
    }
}
