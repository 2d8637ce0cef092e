//! The latency budget.

use super::Findings;
use crate::BoxError;
use crate::budget::Budget;
use crate::compare::differences;
use crate::results::Results;
use llm_bench::report::{progress, show};

const FILE: &str = "latency_budget.json";

pub(super) fn make(results: &Results) -> Result<Findings, BoxError> {
    let budget = Budget::measure(|id| progress(&format!("latency budget: {id}")))?;
    show(&budget.to_string());
    results.write(FILE, &budget)?;
    let failed = budget.failed().map(|(id, figure)| {
        let (expected, measured) = (figure.expected, figure.measured);
        format!(
            "{id}, {}: {measured} {}, expected {expected} ({})",
            figure.figure, figure.unit, figure.tolerance
        )
    });
    Ok(failed.collect())
}

pub(super) fn check(kept: &Results, made: &Results) -> Result<Findings, BoxError> {
    let mut findings = make(made)?;
    let (kept, made) = (
        kept.read(FILE)?.unwrap_or_default(),
        made.read(FILE)?.unwrap_or_default(),
    );
    findings.extend(
        differences(&kept, &made)
            .into_iter()
            .map(|place| format!("{FILE}{place}")),
    );
    Ok(findings)
}
