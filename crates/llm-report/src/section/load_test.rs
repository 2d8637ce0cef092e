//! The reference load test.

use super::bench;
use crate::BoxError;
use crate::budget::{digits, quantity};
use crate::chart::{Bar, Bars, Group};
use crate::page::{Block, Section, Table};
use crate::results::{Get, Results};
use serde_json::Value;

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let Some((mut section, result)) = bench::section(
        results,
        "loadtest.json",
        ("load-test", "Reference load test"),
        "80 requests over 3 prompts, 16 in flight: how many are generated, answered from the cache, coalesced, and in which batches?",
        "In process under virtual time, and over sockets against the release binary, so many runs of each, with and without coalescing",
    )?
    else {
        return Ok(None);
    };
    let runs = result.list("/measured");
    let mut table = Table::new(
        "Runs, and how many of them had exactly these counts",
        [
            "where",
            "generated / hits / coalesced",
            "runs with it",
            "batches",
            "p50",
            "p95",
            "slowest",
        ],
    );
    for run in runs {
        let (sources, times) = most(run, "/sources");
        let (batches, _) = most(run, "/batches");
        let ms = |pointer| {
            run.number(pointer)
                .map_or_else(String::new, |ms| quantity(ms, "ms"))
        };
        table.row([
            format!("{}, {}", run.text("/place"), run.text("/mode")),
            sources,
            format!("{times} of {}", run.number("/runs").unwrap_or(0.0)),
            batches,
            ms("/latency_ms/p50"),
            ms("/latency_ms/p95"),
            ms("/latency_ms/most"),
        ]);
    }
    section.blocks = vec![
        Block::Table(table),
        Block::Chart(chart(runs).draw()),
        bench::checks(&result),
    ];
    section.means = vec![
        "Coalescing leaves one generation a prompt: 3 instead of 16. The other 64 requests find all three answers in the cache either way.".to_owned(),
        "With coalescing the slowest caller waits for the window and one batch of three: 6 + 12 + 3 · 3 = 27 ms, and in process that is exact.".to_owned(),
    ];
    section.means.extend(bench::notes(&result));
    let p95 = |place: &str, mode: &str| {
        let mut same = runs
            .iter()
            .filter(|run| run.text("/place") == place && run.text("/mode") == mode);
        same.next()
            .and_then(|run| run.number("/latency_ms/p95"))
            .map_or_else(|| "–".to_owned(), |ms| quantity(ms, "ms"))
    };
    let generations = |mode: &str| {
        let expected = result.number(&format!("/expected/counts/{mode}/sources/generations"));
        expected.map_or_else(|| "–".to_owned(), digits)
    };
    section.glance = vec![[
        "80 requests over 3 prompts, 16 in flight: without / with coalescing".to_owned(),
        format!(
            "{} / {} generations; p95 {} / {} over sockets",
            generations("without coalescing"),
            generations("with coalescing"),
            p95("over sockets", "without coalescing"),
            p95("over sockets", "with coalescing")
        ),
    ]];
    Ok(Some(section))
}

/// What most runs had, and how many they were.
fn most(run: &Value, pointer: &str) -> (String, u64) {
    let seen = run.pointer(pointer).and_then(Value::as_object);
    let runs = |(name, runs): (&String, &Value)| (name.clone(), runs.as_u64().unwrap_or(0));
    seen.and_then(|seen| seen.iter().map(runs).max_by_key(|(_, runs)| *runs))
        .unwrap_or_default()
}

fn chart(runs: &[Value]) -> Bars {
    let in_process = runs.iter().filter(|run| run.text("/place") == "in process");
    let groups = in_process.map(|run| {
        let (sources, _) = most(run, "/sources");
        let counts = sources
            .split(" / ")
            .filter_map(|count| count.trim().parse().ok());
        Group {
            name: run.text("/mode").to_owned(),
            bars: counts.map(Bar::new).collect(),
        }
    });
    Bars {
        id: "load_test",
        title: "Where 80 answers came from",
        description: "Of 80 requests over 3 prompts, 64 are answered from the cache in both modes; of the other 16, all are generated \
                      without coalescing, and 3 are generated and 13 coalesced with it."
            .to_owned(),
        x: "answers, in process, every run",
        unit: "",
        series: vec!["generated", "from the cache", "coalesced"],
        groups: groups.collect(),
        limit: None,
        logarithmic: false,
    }
}
