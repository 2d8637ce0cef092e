//! Ten thousand identical requests at once.

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
        "herd.json",
        ("herd", "Thundering herd"),
        "Thousands of callers ask for the same thing at the same time: how often does the backend hear of it?",
        "Over sockets, against a backend that takes 5 s, once for a whole answer and once for a stream",
    )?
    else {
        return Ok(None);
    };
    let callers = result.number("/expected/callers").unwrap_or(0.0);
    let forms = result.list("/measured");
    let mut table = Table::new(
        format!("{} identical requests at once", digits(callers)),
        [
            "answer",
            "calls at the backend",
            "whole answers",
            "coalesced",
            "first behind the backend",
            "p50",
            "last",
        ],
    );
    for form in forms {
        let count = |pointer| form.number(pointer).map_or_else(String::new, digits);
        let ms = |pointer| {
            form.number(pointer)
                .map_or_else(String::new, |ms| quantity(ms, "ms"))
        };
        table.row([
            form.text("/form").to_owned(),
            count("/upstream_calls"),
            count("/whole_answers"),
            count("/sources/coalesced"),
            ms("/behind_upstream_ms/first"),
            ms("/behind_upstream_ms/p50"),
            ms("/behind_upstream_ms/last"),
        ]);
    }
    section.blocks = vec![
        Block::Table(table),
        Block::Chart(chart(forms).draw()),
        bench::checks(&result),
    ];
    section.means = vec!["One generation serves them all, and nobody gets less than the whole answer. The time behind the backend is that of writing thousands of answers, and of the callers' own process reading them.".to_owned()];
    section.means.extend(bench::notes(&result));
    let calls = |form: &Value| form.number("/upstream_calls").unwrap_or(f64::NAN);
    let most = forms.iter().map(calls).fold(0.0, f64::max);
    let whole = forms
        .iter()
        .filter_map(|form| form.number("/whole_answers"))
        .fold(f64::INFINITY, f64::min);
    section.glance = vec![[
        format!(
            "{} identical requests at once, streamed or not",
            digits(callers)
        ),
        format!(
            "{} generation; {} got the whole answer",
            digits(most),
            digits(whole)
        ),
    ]];
    Ok(Some(section))
}

fn chart(forms: &[Value]) -> Bars {
    let groups = forms.iter().map(|form| {
        let ms = |pointer| Bar::new(form.number(pointer).unwrap_or(f64::NAN));
        Group {
            name: form.text("/form").to_owned(),
            bars: [
                "/behind_upstream_ms/first",
                "/behind_upstream_ms/p50",
                "/behind_upstream_ms/p99",
                "/behind_upstream_ms/last",
            ]
            .map(ms)
            .into(),
        }
    });
    Bars {
        id: "herd",
        title: "Behind a backend of 5 s, in milliseconds",
        description: "How long after the backend's own answer the first, the median, the 99th percentile and the last of the callers have \
                      theirs, for whole answers and for streams."
            .to_owned(),
        x: "ms behind the backend",
        unit: "ms",
        series: vec!["first", "p50", "p99", "last"],
        groups: groups.collect(),
        limit: None,
        logarithmic: false,
    }
}
