//! The latency budget.

use super::budget_charts;
use super::words::sentence;
use crate::BoxError;
use crate::budget::{digits, quantity};
use crate::page::{Block, Section, Table};
use crate::results::{Get, Results};
use serde_json::Value;

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let file = "latency_budget.json";
    let Some(result) = results.read(file)? else {
        return Ok(None);
    };
    let rows = result.list("/rows");
    let mut table = Table::new(
        "Techniques: expected and measured",
        [
            "figure",
            "expected",
            "measured",
            "ratio",
            "tolerance",
            "time",
            "met",
        ],
    );
    let (mut figures, mut met) = (0, 0);
    for row in rows {
        let state = match row.text("/state") {
            "simulation_only" => " (simulation only)",
            "not_built" => " (not built)",
            _ => "",
        };
        let how = match row.text("/state") {
            "not_built" => format!("Will be held to: {}.", row.text("/how")),
            _ => sentence(row.text("/how")),
        };
        table.group(
            format!("{} {}{state}", row.text("/id"), row.text("/technique")),
            how,
        );
        for figure in row.list("/figures") {
            figures += 1;
            met += usize::from(passed(figure));
            table.row(cells(row.text("/clock"), figure));
        }
    }
    let built = rows
        .iter()
        .filter(|row| row.text("/state") == "measured")
        .count();
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(budget_charts::all(&result));
    let notes = result.list("/notes").iter().filter_map(Value::as_str);
    Ok(Some(Section {
        id: "budget".to_owned(),
        title: "Latency budget".to_owned(),
        asked: "Which techniques make serving fast, or keep it so under load, and does each do what it is said to?".to_owned(),
        how: "The product's own code wherever it has the technique: the whole gateway in process under virtual time, so that what waits is exact; \
              laws of queueing in the simulator"
            .to_owned(),
        command: result.text("/command").to_owned(),
        file: file.to_owned(),
        machine: super::bench::machine(&result).map(|machine| format!("{machine}; {}", result.text("/version/rustc"))),
        blocks,
        means: notes.map(str::to_owned).collect(),
        glance: vec![[
            format!("latency techniques measured, of {}", rows.len()),
            format!("{built}; {met} of {figures} figures within their tolerance"),
        ]],
    }))
}

fn passed(figure: &Value) -> bool {
    figure.pointer("/passed") == Some(&Value::Bool(true))
}

fn cells(clock: &str, figure: &Value) -> [String; 7] {
    let unit = figure.text("/unit");
    let value = |pointer| {
        figure
            .number(pointer)
            .map_or_else(|| "–".to_owned(), |value| quantity(value, unit))
    };
    let clock = match figure.text("/clock") {
        "" => clock,
        own => own,
    };
    [
        figure.text("/figure").to_owned(),
        value("/expected"),
        value("/measured"),
        figure.number("/ratio").map_or_else(
            || "–".to_owned(),
            |ratio| {
                if ratio < 0.01 {
                    digits(ratio)
                } else {
                    format!("{ratio:.3}")
                }
            },
        ),
        figure.text("/tolerance").to_owned(),
        clock.to_owned(),
        if passed(figure) { "yes" } else { "no" }.to_owned(),
    ]
}
