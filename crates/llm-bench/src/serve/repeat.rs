//! The same test several times.

use super::check::value;
use super::console::{metrics, percentiles};
use super::plan::Plan;
use crate::cli::Cli;
use crate::figures::Summary;
use crate::measure::{Interval, Sorted};
use crate::report::Table;
use serde_json::{Map, Value, json};

/// Each figure's mean over the rounds, with its 95 % interval.
pub(super) fn table(cli: &Cli, plan: &Plan, rounds: &[Summary]) -> (Table, Map<String, Value>) {
    let title = format!("{} runs: mean [95 % interval, Student's t]", rounds.len());
    let mut table = Table::new(title, ["figure", "mean", "from", "to", "±"]);
    let mut json = Map::new();
    for figure in figures(cli, plan) {
        let values: Vec<f64> = rounds
            .iter()
            .map(|round| value(&figure, round))
            .filter(|value| value.is_finite())
            .collect();
        if values.len() < 2 {
            continue;
        }
        let interval = Interval::of_mean(&values);
        let cell = |value: f64| format!("{value:.2}");
        let relative = format!("{:.1} %", interval.relative() * 100.0);
        table.row([
            figure.clone(),
            cell(interval.value),
            cell(interval.low),
            cell(interval.high),
            relative,
        ]);
        json.insert(figure, json!({ "mean": interval.value, "low": interval.low, "high": interval.high, "runs": values }));
    }
    (table, json)
}

fn figures(cli: &Cli, plan: &Plan) -> Vec<String> {
    let mut figures: Vec<String> = [
        "request_throughput",
        "output_throughput",
        "request_goodput",
        "failed",
    ]
    .map(str::to_owned)
    .into();
    for metric in metrics(cli, plan) {
        figures.push(format!("mean_{}", metric.word()));
        figures.push(format!("median_{}", metric.word()));
        let words = percentiles(cli, &Sorted::NONE);
        figures.extend(
            words
                .into_iter()
                .map(|(percent, _)| format!("p{percent}_{}", metric.word())),
        );
    }
    figures
}
