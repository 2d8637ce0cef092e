//! The simulation beside a server that replays its cost model.

use super::words::{capital, signed};
use crate::BoxError;
use crate::budget::digits;
use crate::page::{Block, Section, Table};
use crate::results::{Get, Results};

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let file = "sim_against_stub.json";
    let Some(result) = results.read(file)? else {
        return Ok(None);
    };
    let mut table = Table::new(
        "Latency over sockets beside the simulation",
        [
            "load",
            "requests",
            "mean, s",
            "simulated, s",
            "difference",
            "p95",
            "error a request",
        ],
    );
    let per_cent = |value: Option<f64>| {
        value.map_or_else(|| "–".to_owned(), |value| format!("{} %", signed(value)))
    };
    let mut differences = Vec::new();
    for load in result.list("/loads") {
        let number = |pointer| load.number(pointer);
        let shown = |pointer, places: usize| {
            number(pointer).map_or_else(|| "–".to_owned(), |value| format!("{value:.places$}"))
        };
        let difference = per_cent(number("/e2e_mean_s/difference_percent"));
        differences.push(format!(
            "{difference} at {} % load",
            shown("/load_percent", 0)
        ));
        table.row([
            format!("{} %", shown("/load_percent", 0)),
            shown("/requests", 0),
            shown("/e2e_mean_s/stub", 3),
            shown("/e2e_mean_s/simulation", 3),
            difference,
            per_cent(number("/e2e_p95_s/difference_percent")),
            format!("{} %", shown("/e2e_mape_percent", 2)),
        ]);
    }
    Ok(Some(Section {
        id: "stub".to_owned(),
        title: "The simulation over sockets".to_owned(),
        asked: "Does a load test of the stub server say what the simulation says?".to_owned(),
        how: capital(result.text("/about")),
        command: result.text("/command").to_owned(),
        file: file.to_owned(),
        blocks: vec![Block::Table(table)],
        means: vec![format!(
            "The load test and the simulation check each other: they may differ by {} %.",
            digits(result.number("/tolerance_percent").unwrap_or(f64::NAN))
        )],
        glance: vec![[
            "load test of the stub beside the simulation: mean latency".to_owned(),
            differences.join(", "),
        ]],
        ..Section::default()
    }))
}
