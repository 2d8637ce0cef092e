//! Callers who join, and hits under load.

use super::bench;
use crate::BoxError;
use crate::budget::quantity;
use crate::chart::{Bar, Bars, Group};
use crate::page::{Block, Section};
use crate::results::{Get, Results};
use serde_json::Value;

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let Some((mut section, result)) = bench::section(
        results,
        "followers.json",
        (
            "followers",
            "Joining a stream, sharing an answer, hits under load",
        ),
        "What does a caller wait who joins a stream half-way, shares a slow answer with 49 others, or has his answer in the cache while the backend is full?",
        "Over sockets: a stream of 2 s joined at 0.4 s; 50 callers of one answer of 50, 200 and 400 ms; hits beside 64 requests on 8 places",
    )?
    else {
        return Ok(None);
    };
    section.blocks = vec![
        Block::Chart(chart(result.list("/measured/fan_out")).draw()),
        bench::checks(&result),
    ];
    section.means = vec![
        "Who joins late gets at once what was there already, and the rest live.".to_owned(),
        "Hits wait for nothing: they never take a place at the backend.".to_owned(),
    ];
    section.means.extend(bench::notes(&result));
    let ms = |pointer| {
        result
            .number(pointer)
            .map_or_else(|| "–".to_owned(), |ms| quantity(ms, "ms"))
    };
    section.glance = vec![
        [
            "a second caller joins a stream of 2 s at 0.4 s: first token".to_owned(),
            format!(
                "{} at most, live to the end",
                ms("/measured/join/first_token_ms/most")
            ),
        ],
        [
            "a hit while the backend is full".to_owned(),
            format!(
                "p50 {}, p99 {}",
                ms("/measured/saturated/p50_ms"),
                ms("/measured/saturated/p99_ms")
            ),
        ],
    ];
    Ok(Some(section))
}

fn chart(fan_out: &[Value]) -> Bars {
    let groups = fan_out.iter().map(|upstream| {
        let ms = |pointer: &str| upstream.number(pointer).unwrap_or(f64::NAN);
        Group {
            name: format!("backend of {} ms", ms("/upstream_ms")),
            bars: vec![Bar {
                value: ms("/last_ms/median"),
                reach: Some((ms("/last_ms/least"), ms("/last_ms/most"))),
            }],
        }
    });
    Bars {
        id: "followers",
        title: "The last of 50 callers behind the backend",
        description: "How long after the backend's answer the last of 50 callers who share it has it: the median of the runs, with the \
                      fastest and the slowest run."
            .to_owned(),
        x: "ms behind the backend",
        unit: "ms",
        series: vec!["last of 50"],
        groups: groups.collect(),
        limit: None,
        logarithmic: false,
    }
}
