//! Runs what is asked for.

use crate::BoxError;
use crate::cli::Cli;
use crate::part;
use crate::results::Results;
use llm_bench::report::show;
use std::path::PathBuf;

/// Runs what `cli` asks for; false when a figure is not what it must be.
///
/// # Errors
/// An experiment could not be run to its end, or a file not read or written.
pub fn run(cli: &Cli) -> Result<bool, BoxError> {
    let results = Results::at(&cli.out);
    let made = scratch();
    let mut findings = Vec::new();
    for asked in cli.parts() {
        findings.extend(if cli.check {
            part::check(asked, &results, &Results::at(&made))?
        } else {
            part::make(asked, &results)?
        });
    }
    if findings.is_empty() {
        // What was made to be compared has served.
        let _ = std::fs::remove_dir_all(&made);
        if cli.check {
            show("every exact figure is what is kept");
        }
        return Ok(true);
    }
    show("\nnot as it must be:");
    for finding in &findings {
        show(&format!("  {finding}"));
    }
    if cli.check {
        show(&format!("what was made is in {}", made.display()));
    }
    Ok(false)
}

fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("llm-report-{}", std::process::id()))
}
