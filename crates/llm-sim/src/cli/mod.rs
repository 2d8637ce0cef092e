//! The command line: `cargo xtask sim`.
//!
//! | command | what it does |
//! |---|---|
//! | `--preset seed` | the reference's table, ours beside it, `results/batching.json` and plots |
//! | `--preset seed --check FILE` | the reference's table against a published one |
//! | `front-end` | single flight, caching, balancing, hedging, admission, `results/front_end.json` and plots |
//! | `against-stub` | the stub that replays the cost model, over sockets, beside its simulation |
//! | `validate --data DIR` | real runs of vLLM beside their simulation |
//! | `plan --rps 600 --p99 100ms` | how many replicas, where the time goes, what if, what it costs |
//! | `sweep --loads 2,4,8` | latency against load, with intervals and plots |
//! | `trace-stats FILE…` | what traces are like |
//! | `presets` | accelerators and models, with sources |
//!
//! Tables go to standard output, progress to standard error; `--json` prints JSON instead.

mod against_stub;
mod fleet;
mod front_end;
mod output;
mod plan;
mod seed;
mod sweep;
mod traces;
mod validate;

use std::path::{Path, PathBuf};

use self::output::Output;
use crate::{cost::presets, error::Error};

/// The arguments of `cargo xtask sim`.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    seed: seed::Args,
    #[command(flatten)]
    global: Global,
}

/// Options of every command.
#[derive(Clone, Debug, clap::Args)]
struct Global {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    /// The folder of the public data.
    #[arg(
        long,
        global = true,
        env = "LLM_FRONT_DATA",
        default_value = "../shared/data"
    )]
    data: PathBuf,
    /// The folder that results are written to.
    #[arg(long, global = true, default_value = "results")]
    out: PathBuf,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Command {
    /// Measure what stands before the servers, and what it is worth.
    FrontEnd(front_end::Args),
    /// Compare the stub that replays the cost model, over sockets, with its simulation.
    AgainstStub(against_stub::Args),
    /// Compare real runs of vLLM with their simulation.
    Validate,
    /// Find the fewest replicas that meet a target.
    Plan(plan::Args),
    /// Simulate a range of loads, with intervals and plots.
    Sweep(sweep::Args),
    /// Describe traces.
    TraceStats(traces::Args),
    /// List accelerators and models.
    Presets,
}

/// Runs a command; its results go to standard output.
///
/// # Errors
///
/// Files that cannot be read or written, settings that make no sense, and a check that fails.
pub fn run(args: &Args) -> Result<(), Error> {
    let mut output = Output::new(args.global.json, args.global.out.clone());
    let data: &Path = &args.global.data;
    match &args.command {
        None => seed::run(&args.seed, &mut output),
        Some(Command::FrontEnd(args)) => front_end::run(args, &mut output),
        Some(Command::AgainstStub(args)) => against_stub::run(args, &mut output),
        Some(Command::Validate) => validate::run(data, &mut output),
        Some(Command::Plan(args)) => plan::run(args, &mut output),
        Some(Command::Sweep(args)) => sweep::run(args, &mut output),
        Some(Command::TraceStats(args)) => traces::run(args, data, &mut output),
        Some(Command::Presets) => list(&mut output),
    }
}

fn list(output: &mut Output) -> Result<(), Error> {
    let mut table =
        output::Table::new(["preset", "what", "KV tokens", "seats", "budget", "source"]);
    for preset in presets::ALL {
        table.row([
            preset.name.to_owned(),
            preset.title.to_owned(),
            preset.kv_tokens.to_string(),
            preset.max_sequences.to_string(),
            preset.max_tokens.to_string(),
            preset.source.to_owned(),
        ]);
    }
    output.line(&table.to_string())
}
