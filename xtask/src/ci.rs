//! What CI checks, step by step, in the order that fails soonest.

use crate::run::{Failed, cargo, check};
use std::process::Command;
use std::time::Duration;
#[expect(clippy::disallowed_types, reason = "real time of real commands")]
use std::time::Instant;

/// What to leave out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these steps (comma-separated); `--list` names them
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Name the steps and stop
    #[arg(long)]
    list: bool,
}

type Step = (&'static str, fn() -> Result<(), Failed>);

const STEPS: [Step; 8] = [
    ("format", format),
    ("lints", lints),
    ("tests", tests),
    ("doc-tests", doc_tests),
    ("docs", docs),
    ("features", features),
    ("models", models),
    ("results", results),
];

/// Crates that others use, with each of their features.
const FEATURES: [(&str, &[&str]); 7] = [
    ("tower-coalesce", &["http", "tracing"]),
    ("tower-batch-llm", &[]),
    ("tower-semcache", &["http", "hashed", "guards"]),
    ("llm-embed", &["minilm"]),
    ("llm-backend", &["client", "rustls", "stub", "replay"]),
    ("llm-front", &["rustls"]),
    ("llm-sim", &["cli", "gzip"]),
];

pub(crate) fn run(args: &Args) -> Result<(), Failed> {
    if let Some(unknown) = args
        .only
        .iter()
        .find(|name| STEPS.iter().all(|(step, _)| step != name))
    {
        return Err(Failed::new(format!(
            "no step is called `{unknown}`: --list names them"
        )));
    }
    let mut took = Vec::new();
    for (name, step) in STEPS {
        if args.list {
            report(name);
        } else if args.only.is_empty() || args.only.iter().any(|only| only == name) {
            report(&format!("=== {name}"));
            #[expect(clippy::disallowed_types, reason = "real time of real commands")]
            let started = Instant::now();
            step()?;
            took.push((name, started.elapsed()));
        }
    }
    for (name, time) in &took {
        report(&format!("{name:>10} {:>6.1} s", time.as_secs_f64()));
    }
    if !took.is_empty() {
        let all: Duration = took.iter().map(|(_, time)| *time).sum();
        report(&format!("{:>10} {:>6.1} s", "all", all.as_secs_f64()));
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a command-line program")]
fn report(line: &str) {
    println!("{line}");
}

fn format() -> Result<(), Failed> {
    check(cargo().args(["fmt", "--all", "--check"]))
}

fn lints() -> Result<(), Failed> {
    check(cargo().args([
        "clippy",
        "--workspace",
        "--all-features",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ]))
}

fn tests() -> Result<(), Failed> {
    // Both runners run the same tests; nextest, where it is installed, runs packages side by side.
    let nextest = Command::new("cargo-nextest")
        .arg("--version")
        .output()
        .is_ok_and(|out| out.status.success());
    match nextest {
        true => check(cargo().args([
            "nextest",
            "run",
            "--workspace",
            "--all-features",
            "--no-fail-fast",
        ])),
        false => check(cargo().args([
            "test",
            "--workspace",
            "--all-features",
            "--all-targets",
            "--no-fail-fast",
        ])),
    }
}

fn doc_tests() -> Result<(), Failed> {
    check(cargo().args(["test", "--workspace", "--all-features", "--doc", "--quiet"]))
}

fn docs() -> Result<(), Failed> {
    check(
        cargo()
            .args([
                "doc",
                "--workspace",
                "--all-features",
                "--no-deps",
                "--quiet",
            ])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}

fn features() -> Result<(), Failed> {
    for (package, features) in FEATURES {
        let alone = [
            "clippy",
            "--quiet",
            "--package",
            package,
            "--no-default-features",
        ];
        let deny = ["--", "-D", "warnings"];
        check(cargo().args(alone).args(deny))?;
        for feature in features {
            check(cargo().args(alone).args(["--features", feature]).args(deny))?;
        }
    }
    Ok(())
}

/// The loom models of our own synchronisation, under a configuration and a target folder of their own.
fn models() -> Result<(), Failed> {
    check(
        cargo()
            .args([
                "test",
                "--release",
                "--quiet",
                "--package",
                "tower-coalesce",
                "--all-features",
                "--lib",
                "loom",
            ])
            .args(["--target-dir", "target/loom"])
            .env("RUSTFLAGS", "--cfg tower_coalesce_loom"),
    )
}

/// The experiments whose results must be equal everywhere: one program holds all of them, so one build serves them all.
fn results() -> Result<(), Failed> {
    crate::report::run(&["--check".to_owned()])
}
