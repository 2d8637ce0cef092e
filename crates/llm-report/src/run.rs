//! Runs what is asked for.

use crate::BoxError;
use crate::budget::Budget;
use crate::cli::Cli;
use llm_bench::report::{progress, show};
use serde::Serialize;
use std::path::Path;

/// Runs what `cli` asks for; false when a figure is not what it must be.
///
/// # Errors
/// An experiment could not be run to its end, or a file not written.
pub fn run(cli: &Cli) -> Result<bool, BoxError> {
    let budget = Budget::measure(|id| progress(&format!("latency budget: {id}")))?;
    show(&budget.to_string());
    write(&cli.out.join("latency_budget.json"), &budget)?;
    let failed: Vec<String> = budget
        .failed()
        .map(|(id, figure)| format!("{id}, {}", figure.figure))
        .collect();
    if !failed.is_empty() {
        show(&format!("not as expected: {}", failed.join("; ")));
    }
    Ok(failed.is_empty())
}

fn write(file: &Path, value: &impl Serialize) -> Result<(), BoxError> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut json = serde_json::to_string_pretty(value)?;
    json.push('\n');
    std::fs::write(file, json).map_err(|error| format!("{}: {error}", file.display()))?;
    progress(&format!("written to {}", file.display()));
    Ok(())
}
