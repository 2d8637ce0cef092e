//! What the runs come to.

use super::workload::{LIMIT, TOLERANCE};
use super::{Mode, Run};
use crate::BoxError;
use crate::cli::Experiment;
use crate::measure::{Sorted, millis};
use crate::report::{Check, Machine, Report, Table};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// The runs of one mode in one place.
#[derive(Debug, Serialize)]
struct Summary {
    place: &'static str,
    mode: &'static str,
    runs: usize,
    /// How many runs had these counts.
    sources: BTreeMap<String, usize>,
    /// How many runs had these batches.
    batches: BTreeMap<String, usize>,
    sources_exact: usize,
    /// Runs whose first 16 requests were sent within one window; only there the batches are exact.
    in_window: usize,
    batches_exact_in_window: usize,
    spread_ms: Quantiles,
    latency_ms: Quantiles,
    p95_by_limit: f64,
}

#[derive(Debug, Serialize)]
struct Quantiles {
    p50: f64,
    p95: f64,
    most: f64,
}

impl Quantiles {
    fn of<'a>(times: impl IntoIterator<Item = &'a Duration>) -> Self {
        let sorted: Sorted = times.into_iter().map(|time| millis(*time)).collect();
        Self {
            p50: sorted.median(),
            p95: sorted.quantile(0.95),
            most: sorted.most(),
        }
    }
}

impl Summary {
    fn of(place: &'static str, mode: Mode, runs: &[(Mode, Run)]) -> Self {
        let runs: Vec<&Run> = runs
            .iter()
            .filter(|(of, _)| *of == mode)
            .map(|(_, run)| run)
            .collect();
        let expected = mode.expected();
        let (mut sources, mut batches) = (BTreeMap::new(), BTreeMap::new());
        for run in &runs {
            *sources.entry(run.counts.sources.to_string()).or_default() += 1;
            *batches.entry(run.counts.batches.to_string()).or_default() += 1;
        }
        let in_window = || runs.iter().filter(|run| run.in_window());
        let latency_ms = Quantiles::of(runs.iter().flat_map(|run| &run.took));
        Self {
            place,
            mode: mode.word(),
            runs: runs.len(),
            sources,
            batches,
            sources_exact: runs
                .iter()
                .filter(|run| run.counts.sources == expected.sources)
                .count(),
            in_window: in_window().count(),
            batches_exact_in_window: in_window()
                .filter(|run| run.counts.batches == expected.batches)
                .count(),
            spread_ms: Quantiles::of(runs.iter().map(|run| &run.spread)),
            p95_by_limit: latency_ms.p95 / millis(LIMIT),
            latency_ms,
        }
    }

    fn checks(&self, mode: Mode) -> Vec<Check> {
        let Self {
            place,
            mode: word,
            runs,
            ..
        } = self;
        let expected = mode.expected();
        let of = |count| format!("{count} of {runs} runs");
        vec![
            Check::equal(
                format!("{place}, {word}: sources {}", expected.sources),
                of(*runs),
                of(self.sources_exact),
            ),
            Check::equal(
                format!("{place}, {word}: batches {}", expected.batches),
                format!(
                    "{} of {} runs with arrivals inside the window",
                    self.in_window, self.in_window
                ),
                format!(
                    "{} of {} runs with arrivals inside the window",
                    self.batches_exact_in_window, self.in_window
                ),
            ),
        ]
    }
}

const IN_PROCESS: &str = "in process";
const SOCKETS: &str = "over sockets";

/// Holds the runs against what is expected.
///
/// # Errors
/// The figures cannot be written as JSON.
pub fn report(
    cli: &Experiment,
    in_process: &[(Mode, Run)],
    sockets: &[(Mode, Run)],
) -> Result<Report, BoxError> {
    let mut table = Table::new(
        "reference: 80 requests over 3 prompts, 16 in flight, batches ≤ 8 after 6 ms, 12 ms + 3 ms an item",
        [
            "",
            "generated / hits / coalesced",
            "exact",
            "batches",
            "exact",
            "sends within",
            "p50",
            "p95",
            "p95 by 27 ms",
        ],
    );
    let (mut checks, mut measured) = (Vec::new(), Vec::new());
    for (place, runs) in [(IN_PROCESS, in_process), (SOCKETS, sockets)] {
        for mode in Mode::BOTH {
            let summary = Summary::of(place, mode, runs);
            table.row(row(&summary));
            checks.extend(summary.checks(mode));
            checks.extend(time_check(&summary, mode));
            measured.push(summary);
        }
    }
    let expected: BTreeMap<_, _> = Mode::BOTH.map(|mode| (mode.word(), mode.expected())).into();
    Ok(Report {
        scenario: "reference",
        command: cli.again(),
        machine: Machine::here(),
        expected: json!({
            "counts": expected,
            "limit_ms": millis(LIMIT),
            "p95_by_limit_at_most": { IN_PROCESS: 1.0, SOCKETS: TOLERANCE },
        }),
        measured: serde_json::to_value(measured)?,
        checks,
        tables: vec![table],
        notes: vec![
            "over sockets the batches are exact when the first 16 sends lie within one window of 6 ms; the others are counted, not checked".to_owned(),
        ],
    })
}

/// With coalescing, everybody waits for one batch of known cost.
fn time_check(summary: &Summary, mode: Mode) -> Option<Check> {
    let limit = if summary.place == IN_PROCESS {
        1.0
    } else {
        TOLERANCE
    };
    let figure = format!(
        "{}, with coalescing: p95 by its limit of {} ms",
        summary.place,
        millis(LIMIT)
    );
    (mode == Mode::With).then(|| Check::at_most(figure, limit, summary.p95_by_limit, " ×"))
}

fn row(summary: &Summary) -> [String; 9] {
    let most = |seen: &BTreeMap<String, usize>| {
        let most = seen.iter().max_by_key(|(_, runs)| **runs);
        most.map_or_else(String::new, |(figure, _)| figure.clone())
    };
    let Quantiles { p50, p95, .. } = summary.latency_ms;
    [
        format!("{}, {}", summary.place, summary.mode),
        most(&summary.sources),
        format!("{} of {}", summary.sources_exact, summary.runs),
        most(&summary.batches),
        format!(
            "{} of {}",
            summary.batches_exact_in_window, summary.in_window
        ),
        format!("{:.2} ms", summary.spread_ms.most),
        format!("{p50:.2} ms"),
        format!("{p95:.2} ms"),
        format!("{:.3}", summary.p95_by_limit),
    ]
}
