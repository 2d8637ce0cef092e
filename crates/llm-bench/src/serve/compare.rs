//! One server beside another.

use super::plan::Plan;
use crate::cli::Cli;
use crate::figures::{Metric, Paired, Summary};
use crate::load::{Outcome, Ran};
use crate::report::Table;
use crate::workload::Form;

/// The run as the server of number `target` saw it.
pub(super) fn of_target(ran: &Ran, target: usize) -> Ran {
    let outcomes: Vec<Outcome> = ran
        .outcomes
        .iter()
        .filter(|outcome| outcome.target == target)
        .cloned()
        .collect();
    Ran {
        outcomes,
        ..ran.clone()
    }
}

/// The differences, in each metric.
pub(super) fn pairs(plan: &Plan, ran: &Ran) -> Vec<Paired> {
    let metrics: &[Metric] = match plan.form {
        Form::Stream => &[Metric::TtftFromSend, Metric::Tpot, Metric::E2elFromSend],
        Form::Body => &[Metric::E2elFromSend],
    };
    metrics
        .iter()
        .filter_map(|&metric| Paired::of(&ran.outcomes, metric))
        .collect()
}

/// The table for people.
pub(super) fn table(cli: &Cli, pairs: &[Paired], first: &str) -> Table {
    let second = cli.traffic.compare.as_deref().unwrap_or_default();
    let title = format!(
        "{first} less {second}: request by request, in turns; milliseconds, with 95 % intervals"
    );
    let mut table = Table::new(
        title,
        [
            "",
            "pairs",
            "first p50",
            "second p50",
            "median of differences",
            "±",
            "mean of differences",
            "±",
        ],
    );
    for pair in pairs {
        let percent = |relative: f64| format!("{:.1} %", relative * 100.0);
        table.row([
            pair.metric.to_owned(),
            pair.pairs.to_string(),
            format!("{:.3}", pair.first_ms),
            format!("{:.3}", pair.second_ms),
            format!("{:.3}", pair.median_ms),
            percent(pair.median_ms.relative()),
            format!("{:.3}", pair.mean_ms),
            percent(pair.mean_ms.relative()),
        ]);
    }
    table
}

/// What spoils a comparison, in words.
pub(super) fn notes(pairs: &[Paired], summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(pair) = pairs.first()
        && pair.incomplete > 0
    {
        notes.push(format!(
            "{} pairs are in no figure: one of their requests failed",
            pair.incomplete
        ));
    }
    if summary.all.cached_tokens > 0 {
        notes.push("whichever request of a pair comes second finds the server's prefix cache warm; both servers have that turn equally often".to_owned());
    }
    notes
}
