//! What a bound on wrong answers costs and keeps, on a stream of requests.

use super::words::capital;
use crate::BoxError;
use crate::budget::digits;
use crate::page::{Block, Section, Table};
use crate::results::{Get, Results};
use serde_json::Value;

/// The streams: a file each, and what is special about it.
const STREAMS: [(&str, &str); 5] = [
    ("cache_eval_stream.json", "in any order"),
    ("cache_eval_stream_blocks.json", "one class after the other"),
    (
        "cache_eval_stream_change.json",
        "a quarter of the answers change at half time",
    ),
    (
        "cache_eval_stream_noise.json",
        "a judge that sees a difference in 1 % of equal answers",
    ),
    (
        "cache_eval_stream_random.json",
        "answers that have nothing to do with the texts",
    ),
];

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let [(file, _), ..] = STREAMS;
    let Some(first) = results.read(file)? else {
        return Ok(None);
    };
    let mut table = Table::new(
        "Means of all runs, and the most wrong in one of them",
        [
            "policy, δ",
            "served",
            "wrong of served",
            "most",
            "certified",
            "share ≤ δ",
            "V ≤ V̄",
            "promise",
            "judged",
        ],
    );
    for (file, about) in STREAMS {
        let Some(stream) = results.read(file)? else {
            continue;
        };
        table.group(capital(about), "");
        for row in stream.list("/rows") {
            table.row(cells(row));
        }
    }
    let number = |pointer| first.number(pointer).unwrap_or(f64::NAN);
    let rows = first.list("/rows");
    Ok(Some(Section {
        id: "stream".to_owned(),
        title: "A bound on wrong answers".to_owned(),
        asked: "How much of a stream of rephrased requests is served if at most a share δ of it may be wrong, and is that kept?"
            .to_owned(),
        how: format!(
            "{} questions of {} intents, each once, sent to an empty cache, {} times: the bounded policy (grace {}, audit rate {}, \
             confidence {}, no guard), vCache's rule and fixed thresholds, by similarity of {}",
            digits(number("/texts")),
            digits(number("/classes")),
            digits(most(rows, "/runs")),
            digits(number("/grace")),
            digits(number("/audit_rate")),
            digits(number("/confidence")),
            first.text("/embedder"),
        ),
        command: first.text("/command").to_owned(),
        file: file.to_owned(),
        blocks: vec![Block::Table(table)],
        means: vec![
            "V is the number of wrong answers among N served, V̄ the bound on it that the audits certify; certified is V̄ of N at the end. Three \
             columns count runs: the share wrong was at most δ at the end; V never passed V̄; V never passed δN + Σc, the grace of each start, which is what is promised. \
             Judged: comparisons by a judge, a request; none is on its path."
                .to_owned(),
            "The promise is a count, not a share: where the traffic turns, the share may pass δ for a while. vCache bounds the wrong among all requests, \
             so what it serves may be wrong more often than its δ. A fixed threshold knows no δ: what is wrong at it depends on the traffic."
                .to_owned(),
        ],
        glance: rows.iter().find_map(glance).into_iter().collect(),
        ..Section::default()
    }))
}

fn most(rows: &[Value], pointer: &str) -> f64 {
    let numbers = rows.iter().filter_map(|row| row.number(pointer));
    numbers.fold(f64::NAN, f64::max)
}

fn cells(row: &Value) -> [String; 9] {
    let shown = |pointer: &str, show: &dyn Fn(f64) -> String| {
        row.number(pointer).map_or_else(|| "–".to_owned(), show)
    };
    let share = |pointer: &str, places: usize| {
        shown(pointer, &|share| format!("{:.places$} %", 100.0 * share))
    };
    let runs = row.number("/runs");
    let kept = |pointer: &str| {
        let of = |runs: f64| {
            shown(pointer, &|kept| {
                format!("{} of {}", digits(kept), digits(runs))
            })
        };
        runs.map_or_else(|| "–".to_owned(), of)
    };
    let policy = row.text("/policy");
    let name = match row.number("/max_wrong") {
        Some(delta) => format!("{policy}, {} %", digits(100.0 * delta)),
        None => policy.to_owned(),
    };
    [
        name,
        share("/hits/mean", 1),
        share("/wrong/mean", 2),
        share("/wrong/max", 2),
        share("/certified/mean", 2),
        kept("/kept_share"),
        kept("/kept_bound"),
        kept("/kept_promise"),
        shown("/judged/mean", &|judged| format!("{judged:.2}")),
    ]
}

/// The bounded policy in the middle of its range, for the first table of the page.
fn glance(row: &Value) -> Option<[String; 2]> {
    let delta = row.number("/max_wrong").filter(|delta| *delta == 0.02)?;
    let bounded = row.text("/policy") == "bounded";
    let (hits, wrong) = row.number("/hits/mean").zip(row.number("/wrong/mean"))?;
    bounded.then(|| {
        [
            format!(
                "rephrased requests under a bound of {} % wrong: served / wrong of it",
                digits(100.0 * delta)
            ),
            format!("{:.1} % / {:.2} %", 100.0 * hits, 100.0 * wrong),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_policy_does_not_promise_is_left_open() {
        let share = |mean: f64, max: f64| json!({"mean": mean, "max": max});
        let mut row = json!({"policy": "bounded", "max_wrong": 0.02, "runs": 100, "hits": share(0.4961, 0.6), "wrong": share(0.0102, 0.0176),
            "judged": share(0.72, 0.9), "certified": share(0.0272, 0.1), "kept_share": 100, "kept_bound": 98, "kept_promise": 100});
        let bounded = [
            "bounded, 2 %",
            "49.6 %",
            "1.02 %",
            "1.76 %",
            "2.72 %",
            "100 of 100",
            "98 of 100",
            "100 of 100",
            "0.72",
        ];
        assert_eq!(cells(&row), bounded);
        let glanced = glance(&row).map(|[_, figure]| figure);
        assert_eq!(glanced.as_deref(), Some("49.6 % / 1.02 %"));

        row = json!({"policy": "threshold 0.9", "runs": 100, "hits": share(0.409, 0.409), "wrong": share(0.0312, 0.0312), "judged": share(0.0, 0.0)});
        let fixed = [
            "threshold 0.9",
            "40.9 %",
            "3.12 %",
            "3.12 %",
            "–",
            "–",
            "–",
            "–",
            "0.00",
        ];
        assert_eq!(cells(&row), fixed);
        assert_eq!(glance(&row), None);
    }
}
