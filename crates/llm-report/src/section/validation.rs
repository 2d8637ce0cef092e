//! The simulator beside a real server.

use super::words::{capital, signed};
use crate::BoxError;
use crate::page::{Block, Section, Table};
use crate::results::{Get, Results};

const ERRORS: [(&str, &str); 7] = [
    ("e2e_mean", "latency, mean"),
    ("e2e_p50", "latency, p50"),
    ("e2e_p99", "latency, p99"),
    ("e2e_mape", "latency, mean absolute error a request"),
    ("ttft_mean", "time to the first token, mean"),
    ("ttft_p99", "time to the first token, p99"),
    ("tpot_mean", "time a token, mean"),
];

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let file = "sim_validation.json";
    let Some(result) = results.read(file)? else {
        return Ok(None);
    };
    let mut table = Table::new(
        "Error of the simulation, per cent",
        ["figure", "as it is", "with unlimited KV memory"],
    );
    for run in result.list("/runs") {
        let about = format!(
            "{} requests, {} preemptions",
            run.number("/requests").unwrap_or(0.0),
            run.number("/preemptions").unwrap_or(0.0)
        );
        table.group(run.text("/name"), about);
        for (key, name) in ERRORS {
            let error = |kind: &str| {
                run.number(&format!("/{kind}/{key}"))
                    .map_or_else(|| "–".to_owned(), signed)
            };
            table.row([name.to_owned(), error("errors"), error("without_kv_limit")]);
        }
    }
    let mut peers = Table::new(
        "What other simulators say of themselves",
        ["simulator", "error"],
    );
    for peer in result.list("/peers") {
        peers.row([peer.text("/0").to_owned(), peer.text("/1").to_owned()]);
    }
    let first = result.list("/runs").first();
    let error = |key: &str| {
        first
            .and_then(|run| run.number(key))
            .map_or_else(|| "–".to_owned(), |error| format!("{} %", signed(error)))
    };
    let real = first
        .map(|run| run.text("/name").replace('_', ", "))
        .unwrap_or_default();
    Ok(Some(Section {
        id: "validation".to_owned(),
        title: "The simulator beside a real server".to_owned(),
        asked: "How far is the simulation from a recorded run of vLLM?".to_owned(),
        how: capital(result.text("/about")),
        command: result.text("/command").to_owned(),
        file: file.to_owned(),
        blocks: vec![Block::Table(table), Block::Table(peers)],
        means: vec!["Memory decides: the same simulation without the limit of KV memory is far off, however good its kernels' times are.".to_owned()],
        glance: vec![[
            format!("simulation beside a real run ({real}): mean / p99 of latency"),
            format!("{} / {}", error("/errors/e2e_mean"), error("/errors/e2e_p99")),
        ]],
        ..Section::default()
    }))
}
