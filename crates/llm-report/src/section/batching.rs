//! Batching policies against load, simulated.

use crate::BoxError;
use crate::budget::{digits, quantity};
use crate::chart::{Line, Lines, Mark};
use crate::page::{Block, Section, Table};
use crate::results::{Get, Results};
use llm_sim::plot::Scale;
use serde_json::Value;

const POLICIES: [(&str, &str); 4] = [
    ("continuous", "continuous"),
    ("static_unpadded", "static, shrinking"),
    ("static", "static, padded"),
    ("sequential", "one at a time"),
];

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let file = "batching.json";
    let Some(result) = results.read(file)? else {
        return Ok(None);
    };
    let limit = result.number("/slo_p95_latency_s").unwrap_or(f64::NAN);
    let seeds = result.number("/ours/seeds").unwrap_or(0.0);
    let capacity = |policy: &str| {
        let of =
            |end: &str| result.number(&format!("/ours/stationary_capacity_rps/{policy}/{end}"));
        of("mean").zip(of("half_width"))
    };
    let mut table = Table::new(
        format!(
            "What one server can do, {} seeds, 95 % intervals",
            digits(seeds)
        ),
        [
            "policy",
            "req/s with p95 within 10 s",
            "±",
            "saturated, tok/s",
        ],
    );
    for (policy, name) in POLICIES {
        let (mean, half) = capacity(policy).unwrap_or((f64::NAN, f64::NAN));
        let saturated = result.number(&format!("/ours/saturated_tokens_per_s/{policy}"));
        table.row([
            name.to_owned(),
            format!("{mean:.2}"),
            format!("{half:.3}"),
            saturated.map_or_else(String::new, digits),
        ]);
    }
    let latency = Lines {
        id: "batching_latency",
        title: "Latency against load",
        description: "The 95th percentile of arrival to last token against the load, on a logarithmic scale, as far as the queue keeps up; \
                      bands are 95 % intervals over the seeds. Each policy rises steeply where its capacity ends."
            .to_owned(),
        x: "load, requests a second",
        y: "p95 of latency, s",
        scale: Scale::Logarithmic,
        lines: lines(&result, "latency_p95_s", true),
        marks: vec![Mark::Height(limit, format!("limit: {}", quantity(limit, "s")))],
        x_ticks: Vec::new(),
    };
    let throughput = Lines {
        id: "batching_throughput",
        title: "Throughput against load",
        description:
            "Output tokens a second against the load; a line that has gone flat is saturated."
                .to_owned(),
        x: "load, requests a second",
        y: "output tokens a second",
        scale: Scale::Linear,
        lines: lines(&result, "output_tokens_per_s", false),
        marks: Vec::new(),
        x_ticks: Vec::new(),
    };
    let by = capacity("continuous")
        .zip(capacity("static"))
        .map(|((continuous, _), (padded, _))| continuous / padded);
    let by = by.map_or_else(|| "–".to_owned(), |by| format!("{by:.1}"));
    Ok(Some(Section {
        id: "batching".to_owned(),
        title: "Batching policies, simulated".to_owned(),
        asked: "How much load does one accelerator take with each way of batching, before the 95th percentile of latency passes 10 s?".to_owned(),
        how: "A discrete-event simulation: a step costs 6 ms and 0.25 ms a sequence, a prompt token 0.05 ms, 32 seats; log-normal lengths, Poisson arrivals".to_owned(),
        command: result.text("/command").to_owned(),
        file: file.to_owned(),
        blocks: vec![Block::Table(table), Block::Chart(latency.draw()), Block::Chart(throughput.draw())],
        means: vec![
            format!("Continuous batching takes {by} times the load of padded static batches: nobody waits for the longest of a batch."),
            "The file also holds the reference's own table of 150 numbers, which is made again number by number in CI; it rests on 1,500 requests and three seeds, too few for the tail. The table here rests on more.".to_owned(),
        ],
        glance: vec![["load of one simulated server, continuous by padded static batches".to_owned(), format!("{by} ×")]],
        ..Section::default()
    }))
}

fn lines(result: &Value, metric: &str, stationary_only: bool) -> Vec<Line> {
    let curve = |(policy, name): (&str, &str)| {
        let points = result.list(&format!("/ours/curves/{policy}")).iter();
        let kept = points.filter(|point| {
            !stationary_only || point.pointer("/stationary") == Some(&Value::Bool(true))
        });
        let points = kept.filter_map(|point| {
            let of = |end: &str| point.number(&format!("/{metric}/{end}"));
            Some((point.number("/rate_rps")?, of("mean")?, of("half_width")?))
        });
        Line {
            points: points.collect(),
            name: name.to_owned(),
            ..Line::default()
        }
    };
    POLICIES.map(curve).into()
}
