//! Callers who join what is already under way, and callers who need nobody to generate for them.

mod fan_out;
mod join;
mod saturated;

use crate::BoxError;
use crate::cli::Experiment;
use crate::process::Binary;
use crate::report::{Machine, Report, progress};
use serde_json::json;

/// Joins a running stream, waits for one slow answer with 50 callers, and asks the cache while the backend is saturated.
///
/// # Errors
/// The front end cannot be reached, or an answer is missing.
pub async fn run(cli: &Experiment, front: &Binary) -> Result<Report, BoxError> {
    progress(&format!(
        "followers: {} times, joining a stream of 2 s",
        cli.runs
    ));
    let join = join::run(front, cli.runs).await?;
    progress(&format!(
        "followers: {} times, 50 callers of one answer",
        cli.runs
    ));
    let fan_out = fan_out::run(front, cli.runs).await?;
    progress("followers: hits while the backend is saturated");
    let saturated = saturated::run(front).await?;
    let mut checks = join.checks();
    checks.extend(fan_out.iter().flat_map(fan_out::FanOut::checks));
    checks.extend(saturated.checks());
    Ok(Report {
        scenario: "followers",
        command: cli.again(),
        machine: Machine::here(),
        expected: json!({
            "first_token_ms_at_most": join::LIMIT_MS,
            "behind_upstream_ms_at_most": fan_out::LIMIT_MS,
            "hit_p99_ms_at_most": saturated::LIMIT_MS,
        }),
        tables: vec![join.table(), fan_out::table(&fan_out), saturated.table()],
        measured: json!({ "join": join, "fan_out": fan_out, "saturated": saturated }),
        checks,
        notes: Vec::new(),
    })
}
