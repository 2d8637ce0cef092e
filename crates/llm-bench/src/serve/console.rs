//! The report for people: the block of `vllm bench serve`, with the formula of each figure.

use super::plan::Plan;
use crate::cli::Cli;
use crate::figures::{Group, Metric, Summary};
use crate::measure::{Sorted, Source};
use crate::report::Table;
use crate::workload::{Endpoint, Form};
use std::fmt::Write;

const WIDTH: usize = 50;

/// Metrics to print.
pub(super) fn metrics(cli: &Cli, plan: &Plan) -> Vec<Metric> {
    if !cli.results.percentile_metrics.is_empty() {
        return cli.results.percentile_metrics.clone();
    }
    match plan.form {
        Form::Stream => vec![Metric::Ttft, Metric::Tpot, Metric::Itl, Metric::E2el],
        Form::Body => vec![Metric::E2el],
    }
}

/// The block.
pub(super) fn block(cli: &Cli, plan: &Plan, summary: &Summary) -> String {
    let mut text = String::new();
    heading(&mut text, " Serving Benchmark Result ", '=');
    let all = &summary.all;
    row(&mut text, "Successful requests:", all.completed);
    row(&mut text, "Failed requests:", all.failed());
    if let Some(cap) = cli.traffic.max_concurrency {
        row(&mut text, "Maximum request concurrency:", cap);
    }
    if cli.traffic.request_rate.is_finite() {
        figure(
            &mut text,
            "Request rate configured (RPS):",
            cli.traffic.request_rate,
        );
    }
    if let Some((achieved, offered)) = summary.pace.achieved.zip(summary.pace.offered) {
        let share = achieved / offered * 100.0;
        let _ = writeln!(
            text,
            "{:<40} {achieved:.2} of {offered:.2} ({share:.1} %)",
            "Request rate sent (RPS):"
        );
    }
    figure(&mut text, "Benchmark duration (s):", summary.duration_s);
    row(&mut text, "Total input tokens:", all.input_tokens);
    let generates = plan.endpoint != Endpoint::Embeddings;
    if generates {
        row(&mut text, "Total generated tokens:", all.output_tokens);
    }
    figure(
        &mut text,
        "Request throughput (req/s):",
        summary.request_throughput(),
    );
    if let Some(goodput) = summary.goodput() {
        figure(&mut text, "Request goodput (req/s):", goodput);
    }
    if generates {
        figure(
            &mut text,
            "Output token throughput (tok/s):",
            summary.output_throughput(),
        );
    }
    if plan.form == Form::Stream {
        figure(
            &mut text,
            "Peak output token throughput (tok/s):",
            summary.peak_tokens_per_s,
        );
    }
    figure(
        &mut text,
        "Peak concurrent requests:",
        summary.peak_concurrency as f64,
    );
    figure(
        &mut text,
        "Mean concurrency (Little's law):",
        summary.mean_concurrency,
    );
    figure(
        &mut text,
        "Total token throughput (tok/s):",
        summary.total_token_throughput(),
    );
    if plan.form == Form::Stream {
        figure(&mut text, "Tokens per chunk:", summary.tokens_per_chunk());
    }
    figure(
        &mut text,
        "P99 lag of the load generator (ms):",
        summary.pace.lag.quantile(0.99),
    );
    for metric in metrics(cli, plan) {
        section(&mut text, cli, metric, all);
    }
    let _ = writeln!(text, "{}", "=".repeat(WIDTH));
    text
}

fn section(text: &mut String, cli: &Cli, metric: Metric, group: &Group) {
    let series = group.series(metric);
    heading(text, metric.title(), '-');
    let _ = writeln!(text, "  = {}", metric.formula());
    let name = metric.name();
    figure(text, &format!("Mean {name} (ms):"), series.mean());
    figure(text, &format!("Median {name} (ms):"), series.median());
    for (word, value) in percentiles(cli, series) {
        figure(text, &format!("P{word} {name} (ms):"), value);
    }
    // From the send: what a load generator says that does not count waiting.
    let naive = match metric {
        Metric::Ttft => Metric::TtftFromSend,
        Metric::E2el => Metric::E2elFromSend,
        _ => return,
    };
    let series = group.series(naive);
    let _ = write!(
        text,
        "{:<40} {:.2}",
        "  from the send: mean, p…",
        series.mean()
    );
    for (_, value) in percentiles(cli, series) {
        let _ = write!(text, ", {value:.2}");
    }
    text.push('\n');
}

/// Each percentile that was asked for, with its word: `99`, `99.9`.
pub(super) fn percentiles(cli: &Cli, series: &Sorted) -> Vec<(String, f64)> {
    let of = |&percent: &f64| (percent.to_string(), series.quantile(percent / 100.0));
    cli.results.metric_percentiles.iter().map(of).collect()
}

/// Where answers came from, if the server tells.
pub(super) fn sources(summary: &Summary) -> Option<Table> {
    if summary.sources.is_empty() {
        return None;
    }
    let heads = [
        "from (Cache-Status)",
        "requests",
        "failed",
        "TTFT mean",
        "p99",
        "E2EL mean",
        "p99",
    ];
    let mut table = Table::new(
        "Where the answers came from; milliseconds from the intended start",
        heads,
    );
    for (source, group) in &summary.sources {
        let ms = |value: f64| {
            if value.is_nan() {
                "-".to_owned()
            } else {
                format!("{value:.2}")
            }
        };
        let (ttft, e2el) = (group.series(Metric::Ttft), group.series(Metric::E2el));
        table.row([
            source_name(*source).to_owned(),
            group.requests.to_string(),
            group.failed().to_string(),
            ms(ttft.mean()),
            ms(ttft.quantile(0.99)),
            ms(e2el.mean()),
            ms(e2el.quantile(0.99)),
        ]);
    }
    Some(table)
}

fn source_name(source: Source) -> &'static str {
    match source {
        Source::Generation => "miss: generated",
        Source::Hit => "hit",
        Source::Coalesced => "coalesced",
        Source::Bypass => "bypass",
        Source::Unsaid => "not said",
    }
}

fn heading(text: &mut String, title: &str, fill: char) {
    let left = WIDTH.saturating_sub(title.len());
    let fill = |count| fill.to_string().repeat(count);
    let _ = writeln!(text, "{}{title}{}", fill(left / 2), fill(left - left / 2));
}

fn row(text: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(text, "{name:<40} {value}");
}

fn figure(text: &mut String, name: &str, value: f64) {
    // What cannot be told is a dash, not a number.
    match value.is_nan() {
        true => row(text, name, "-"),
        false => row(text, name, format!("{value:.2}")),
    }
}
