//! The simulations: batching policies against load, and the front end before servers.

use super::Findings;
use crate::BoxError;
use crate::results::Results;
use clap::Parser;
use llm_bench::report::progress;
use std::ffi::OsString;

/// The simulator's own command line.
#[derive(Debug, Parser)]
struct Sim {
    #[command(flatten)]
    args: llm_sim::cli::Args,
}

/// Each simulation: the arguments that make it, and its file.
const ALL: [(&[&str], &str); 2] = [
    (&["--preset", "seed"], "batching.json"),
    (&["front-end"], "front_end.json"),
];

/// Minutes of work: tens of seeds.
pub(super) fn make(results: &Results) -> Result<Findings, BoxError> {
    for (arguments, file) in ALL {
        progress(&format!("simulation: {file}"));
        let out = ["--out".into(), results.file("").into_os_string()];
        run(arguments, out)?;
    }
    Ok(Findings::new())
}

/// What the simulator's own checks say: the reference's table whole, and small runs of the rest.
pub(super) fn check(kept: &Results) -> Result<Findings, BoxError> {
    let mut findings = Findings::new();
    for (arguments, file) in ALL {
        progress(&format!("simulation: {file}"));
        let check = ["--check".into(), kept.file(file).into_os_string()];
        if let Err(error) = run(arguments, check) {
            findings.push(format!("{file}: {error}"));
        }
    }
    Ok(findings)
}

fn run(arguments: &[&str], rest: [OsString; 2]) -> Result<(), BoxError> {
    let arguments = arguments.iter().map(OsString::from);
    let all = std::iter::once("llm-sim".into())
        .chain(arguments)
        .chain(rest);
    Ok(llm_sim::cli::run(&Sim::try_parse_from(all)?.args)?)
}
