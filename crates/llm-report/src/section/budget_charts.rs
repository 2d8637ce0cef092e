//! The curves of the latency budget.

use crate::budget::digits;
use crate::chart::{Bar, Bars, Drawing, Group, Line, Lines, Mark, Style};
use crate::page::{Block, Row, Table};
use crate::results::Get;
use llm_sim::plot::Scale;
use serde_json::Value;

/// A technique, the number of one of its curves, and how it is drawn; none is only a table.
type Chart = (&'static str, usize, Option<fn(&Value) -> Option<Drawing>>);

const CHARTS: [Chart; 8] = [
    ("F16", 0, Some(batching)),
    ("F17", 0, Some(stages)),
    ("F17", 1, Some(what_if)),
    ("F20", 0, Some(admission)),
    ("F18", 0, Some(queue)),
    ("F11", 0, Some(pool)),
    ("F11", 1, None),
    ("F13", 0, None),
];

/// Every curve that the budget holds: its chart, and its figures.
pub(super) fn all(budget: &Value) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (id, number, chart) in CHARTS {
        blocks.extend(chart.and_then(|chart| chart(budget)).map(Block::Chart));
        blocks.extend(table(budget, id, number).map(Block::Table));
    }
    blocks
}

fn table(budget: &Value, id: &str, number: usize) -> Option<Table> {
    let row = budget
        .list("/rows")
        .iter()
        .find(|row| row.text("/id") == id)?;
    let curve = row.list("/curves").get(number)?;
    let heads = curve.list("/heads").iter().filter_map(Value::as_str);
    let cells = |row: &Value| {
        let cells = row.list("").iter();
        let cells = cells.map(|cell| {
            cell.as_f64()
                .map_or_else(|| cell.text("").to_owned(), digits)
        });
        Row::Cells(cells.collect())
    };
    Some(Table {
        caption: format!("{id}: {}", curve.text("/caption")),
        heads: heads.map(str::to_owned).collect(),
        rows: curve.list("/rows").iter().map(cells).collect(),
    })
}

/// The rows of the `number`th curve of a technique.
fn curve<'a>(budget: &'a Value, id: &str, number: usize) -> Option<&'a [Value]> {
    let row = budget
        .list("/rows")
        .iter()
        .find(|row| row.text("/id") == id)?;
    let rows = row.list("/curves").get(number)?.list("/rows");
    (!rows.is_empty()).then_some(rows)
}

/// One column over another, for a line.
fn points(rows: &[Value], x: usize, y: usize) -> Vec<(f64, f64)> {
    let cell = |row: &Value, column: usize| row.number(&format!("/{column}"));
    rows.iter()
        .filter_map(|row| Some((cell(row, x)?, cell(row, y)?)))
        .collect()
}

fn figure(budget: &Value, id: &str, name: &str) -> Option<f64> {
    let row = budget
        .list("/rows")
        .iter()
        .find(|row| row.text("/id") == id)?;
    let figure = row
        .list("/figures")
        .iter()
        .find(|figure| figure.text("/figure").starts_with(name))?;
    figure.number("/measured")
}

fn batching(budget: &Value) -> Option<Drawing> {
    let rows = curve(budget, "F16", 0)?;
    let rates = points(rows, 0, 1);
    let knee = figure(budget, "F16", "knee")?;
    let at_knee = rates.iter().find(|(size, _)| (size - knee).abs() < 0.5)?.1;
    let chart = Lines {
        id: "budget_batching",
        title: "What batches buy",
        description: format!(
            "Requests a second of a saturated batcher against the size of its batches, each of which takes 6 + 1.2 b ms. Up to {knee} a \
             doubling still brings a fifth more; beyond it the batch mostly makes everybody wait longer."
        ),
        x: "items a batch (each step doubles it)",
        y: "requests a second",
        scale: Scale::Linear,
        x_ticks: rates.iter().map(|(size, _)| *size).collect(),
        lines: vec![Line::new("batcher", rates)],
        marks: vec![Mark::Point(knee, at_knee, format!("knee at {knee}"))],
    };
    Some(chart.draw())
}

fn stages(budget: &Value) -> Option<Drawing> {
    let rows = curve(budget, "F17", 0)?;
    let groups = rows.iter().map(|row| {
        let ms = |column: usize| Bar::new(row.number(&format!("/{column}")).unwrap_or(f64::NAN));
        Group {
            name: row.text("/0").to_owned(),
            bars: vec![ms(1), ms(3)],
        }
    });
    let chart = Bars {
        id: "budget_stages",
        title: "Where the time goes at 600 req/s",
        description: "Mean and 99th percentile of each stage, one replica with a cache of 52 %. The means add up to the total's; the \
                      percentiles do not, their sum is only a bound."
            .to_owned(),
        x: "milliseconds",
        unit: "ms",
        series: vec!["mean", "p99"],
        groups: groups.collect(),
        limit: None,
        logarithmic: false,
    };
    Some(chart.draw())
}

fn what_if(budget: &Value) -> Option<Drawing> {
    let rows = curve(budget, "F17", 1)?;
    let groups = rows.iter().map(|row| Group {
        name: format!(
            "{}: ρ = {:.3}",
            row.text("/0"),
            row.number("/3").unwrap_or(f64::NAN)
        ),
        bars: vec![Bar::new(row.number("/4").unwrap_or(f64::NAN))],
    });
    let chart = Bars {
        id: "budget_what_if",
        title: "What would happen if: 99th percentile of latency",
        description: "At 600 req/s: the load of a replica, and the 99th percentile of latency beside the limit of 100 ms. One replica alone is loaded to 0.997 and misses it."
            .to_owned(),
        x: "p99 of latency, ms",
        unit: "ms",
        series: vec!["p99"],
        groups: groups.collect(),
        limit: Some((100.0, "limit: 100 ms")),
        logarithmic: false,
    };
    Some(chart.draw())
}

fn admission(budget: &Value) -> Option<Drawing> {
    let rows = curve(budget, "F20", 0)?;
    // Ten seconds of load.
    let a_second = |column| {
        points(rows, 0, column)
            .into_iter()
            .map(|(load, count)| (load, count / 10.0))
            .collect::<Vec<_>>()
    };
    let chart = Lines {
        id: "budget_admission",
        title: "Overload is an answer, not a queue",
        description: "Answers and refusals a second against the offered load: 8 places of 40 ms answer 200 a second, and everything beyond \
                      is told 503 with Retry-After. The 99th percentile of the answered stays at the longest wait and the service, 240 ms."
            .to_owned(),
        x: "offered, requests a second",
        y: "requests a second, over 10 s",
        scale: Scale::Linear,
        lines: vec![Line::new("answered", a_second(1)), Line::new("refused", a_second(2))],
        marks: vec![Mark::Height(200.0, "ceiling: 8 / 40 ms".to_owned())],
        x_ticks: Vec::new(),
    };
    Some(chart.draw())
}

fn queue(budget: &Value) -> Option<Drawing> {
    let rows = curve(budget, "F18", 0)?;
    // The service is what the law of the mean leaves.
    let (load, mean) = points(rows, 0, 2).first().copied()?;
    let service = mean * (1.0 - load) / load;
    let loads = || (10..=92).map(|percent| f64::from(percent) / 100.0);
    let law =
        |of: fn(f64) -> f64| loads().map(move |load| (load, service * of(load) / (1.0 - load)));
    let chart = Lines {
        id: "budget_queue",
        title: "Waiting in a queue, against its load",
        description: "Simulated waits (dots) on their laws (dashed): the mean grows with ρ / (1 − ρ), the 99th percentile with \
                      ln(100 ρ) / (1 − ρ)."
            .to_owned(),
        x: "load, ρ",
        y: "wait, ms",
        scale: Scale::Linear,
        lines: vec![
            Line::new("", law(|load| (100.0 * load).ln())).style(Style::Law),
            Line::new("", law(|load| load)).style(Style::Law),
            Line::new("p99", points(rows, 0, 3)).style(Style::Dots),
            Line::new("mean", points(rows, 0, 1)).style(Style::Dots),
        ],
        marks: Vec::new(),
        x_ticks: Vec::new(),
    };
    Some(chart.draw())
}

fn pool(budget: &Value) -> Option<Drawing> {
    let rows = curve(budget, "F11", 0)?;
    let groups = rows.iter().map(|row| Group {
        name: format!("{} places", row.number("/0").unwrap_or(f64::NAN)),
        bars: vec![
            Bar::new(row.number("/2").unwrap_or(f64::NAN)),
            Bar::new(row.number("/3").unwrap_or(f64::NAN)),
        ],
    });
    let chart = Bars {
        id: "budget_pool",
        title: "Waiting for a place in a pool: 600 req/s of 3 ms",
        description: "1.8 places are in use on average, by Little's law. With two the wait is long, with six it is gone; more would only move \
                      the queue into the backend."
            .to_owned(),
        x: "wait, ms",
        unit: "ms",
        series: vec!["mean", "p99"],
        groups: groups.collect(),
        limit: None,
        logarithmic: false,
    };
    Some(chart.draw())
}
