//! What stands before the servers, simulated.

use crate::BoxError;
use crate::budget::digits;
use crate::chart::{Line, Lines};
use crate::page::{Block, Row, Section, Table};
use crate::results::{Get, Results};
use llm_sim::plot::Scale;
use serde_json::Value;

const FRONTS: [&str; 4] = ["neither", "single flight", "cache", "both"];

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let file = "front_end.json";
    let Some(result) = results.read(file)? else {
        return Ok(None);
    };
    let savings = result.list("/savings");
    let mut blocks = vec![
        Block::Chart(saved(savings).draw()),
        Block::Chart(latency(savings).draw()),
    ];
    for experiment in result.list("/experiments") {
        blocks.push(Block::Table(table(experiment)));
    }
    let single = of(savings, "single flight", "saved", false);
    let ends = single.first().zip(single.last());
    let growth = ends.map_or_else(String::new, |((low, least, _), (high, most, _))| {
        format!(
            "{:.0} % at {} req/s, {:.0} % at {}",
            least * 100.0,
            digits(*low),
            most * 100.0,
            digits(*high)
        )
    });
    Ok(Some(Section {
        id: "front-end".to_owned(),
        title: "The front end before servers, simulated".to_owned(),
        asked: "What are single flight, a cache, balancing, hedging and admission worth, and when?".to_owned(),
        how: format!(
            "A discrete-event simulation, {} seeds, on the accelerator of the batching policies; questions repeat by Zipf's law where answers are shared. \
             Figures of a prototype with one seed stand in brackets",
            digits(result.number("/seeds").unwrap_or(f64::NAN))
        ),
        command: result.text("/command").to_owned(),
        file: file.to_owned(),
        blocks,
        means: vec![
            "Single flight saves more the higher the load: the longer answers take, the more requests find one under way. It turns an overload without end into a queue that lasts.".to_owned(),
            "A cache has most of the saving at any load, and leaves single flight little to do, but for a crowd that asks before the first answer is there.".to_owned(),
        ],
        glance: vec![["generations saved by single flight alone, simulated".to_owned(), growth]],
        ..Section::default()
    }))
}

/// The points of one front: load, mean, half the interval.
fn of(savings: &[Value], front: &str, figure: &str, stationary_only: bool) -> Vec<(f64, f64, f64)> {
    let own = savings.iter().filter(|point| point.text("/front") == front);
    let kept = own.filter(|point| {
        !stationary_only || point.pointer("/stationary") == Some(&Value::Bool(true))
    });
    let point = |point: &Value| {
        let end = |end: &str| point.number(&format!("/{figure}/{end}"));
        Some((point.number("/rate_rps")?, end("mean")?, end("half_width")?))
    };
    kept.filter_map(point).collect()
}

fn line(name: &str, points: Vec<(f64, f64, f64)>) -> Line {
    Line {
        name: name.to_owned(),
        points,
        ..Line::default()
    }
}

fn saved(savings: &[Value]) -> Lines {
    let per_cent = |front: &str| {
        let points = of(savings, front, "saved", false);
        points
            .into_iter()
            .map(|(load, mean, half)| (load, mean * 100.0, half * 100.0))
            .collect()
    };
    Lines {
        id: "front_end_saved",
        title: "Generations saved, against load",
        description: "The share of requests that no generation was made for. A cache saves the same at any load; single flight alone saves \
                      more as answers take longer."
            .to_owned(),
        x: "load, requests a second",
        y: "generations saved, %",
        scale: Scale::Linear,
        lines: vec![line("cache", per_cent("cache")), line("single flight alone", per_cent("single flight"))],
        marks: Vec::new(),
        x_ticks: Vec::new(),
    }
}

fn latency(savings: &[Value]) -> Lines {
    let lines = FRONTS.map(|front| line(front, of(savings, front, "e2e_p95_s", true)));
    Lines {
        id: "front_end_latency",
        title: "Latency against load, by what stands in front",
        description: "The 95th percentile of arrival to last token on a logarithmic scale, as far as the server keeps up; bands are 95 % \
                      intervals. With neither it stops keeping up after 10 req/s."
            .to_owned(),
        x: "load, requests a second",
        y: "p95 of latency, s",
        scale: Scale::Logarithmic,
        lines: lines.into(),
        marks: Vec::new(),
        x_ticks: Vec::new(),
    }
}

/// An experiment: a row a variant, a column a figure.
fn table(experiment: &Value) -> Table {
    let rows = experiment.list("/rows");
    let measures = rows.first().map_or(&[][..], |row| row.list("/measures"));
    let heads = measures
        .iter()
        .map(|measure| measure.text("/name").to_owned());
    let cells = |row: &Value| {
        let measures = row.list("/measures").iter().map(|measure| {
            let mean = measure
                .number("/ours/mean")
                .map_or_else(|| "–".to_owned(), digits);
            let prototype = measure
                .number("/prototype")
                .map(|prototype| format!(" ({})", digits(prototype)));
            mean + &prototype.unwrap_or_default()
        });
        Row::Cells(
            std::iter::once(row.text("/variant").to_owned())
                .chain(measures)
                .collect(),
        )
    };
    let mut table = Table {
        caption: experiment.text("/title").to_owned(),
        heads: std::iter::once("variant".to_owned()).chain(heads).collect(),
        rows: rows.iter().map(cells).collect(),
    };
    table.rows.insert(
        0,
        Row::Group(
            experiment.text("/setting").to_owned(),
            experiment.text("/note").to_owned(),
        ),
    );
    table
}
