//! `plan`: how many replicas.

use std::time::Duration;

use super::{
    fleet::{BalanceName, ServerArgs, WorkloadArgs, duration, ms},
    output::{Output, Progress, Table},
};
use crate::{
    error::Error,
    metrics::Limits,
    plan::{self, Answer, Fleet, Metric, Question, Target},
};

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Requests a second.
    #[arg(long)]
    rps: f64,
    /// The 99th percentile must not exceed this (`100ms`, `10s`).
    #[arg(long, value_parser = duration, conflicts_with = "p95")]
    p99: Option<Duration>,
    /// The 95th percentile must not exceed this.
    #[arg(long, value_parser = duration)]
    p95: Option<Duration>,
    /// What the percentile is of.
    #[arg(long, value_enum, default_value_t = MetricName::EndToEnd)]
    metric: MetricName,
    /// At least this share of the requests must be within `--ttft` and `--tpot`.
    #[arg(long)]
    goodput: Option<f64>,
    /// Limit on the time to the first token, for goodput.
    #[arg(long, value_parser = duration, default_value = "500ms")]
    ttft: Duration,
    /// Limit on the time a token, for goodput.
    #[arg(long, value_parser = duration, default_value = "50ms")]
    tpot: Duration,
    /// The share of requests that a cache answers.
    #[arg(long, default_value_t = 0.0)]
    hit_rate: f64,
    /// The time of a cache look-up.
    #[arg(long, value_parser = duration, default_value = "0.9ms")]
    lookup: Duration,
    /// How requests are dealt out to replicas.
    #[arg(long, value_enum, default_value_t = BalanceName::LeastOutstanding)]
    balance: BalanceName,
    /// The price of a replica, an hour.
    #[arg(long)]
    price: Option<f64>,
    /// Requests a simulated run.
    #[arg(long, default_value_t = 50_000)]
    requests: usize,
    /// The most replicas to try.
    #[arg(long, default_value_t = 512)]
    most: usize,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    workload: WorkloadArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MetricName {
    EndToEnd,
    FirstToken,
    PerToken,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Error> {
    if !(args.rps > 0.0 && (0.0..1.0).contains(&args.hit_rate)) {
        return Err(Error::new(
            "a load is above 0, and a hit rate from 0 to below 1",
        ));
    }
    let preset = args.server.preset()?;
    let source = args.workload.source(preset)?;
    let (quantile, limit) = match (args.p99, args.p95) {
        (Some(limit), _) => (0.99, Some(limit)),
        (None, Some(limit)) => (0.95, Some(limit)),
        (None, None) => (0.99, None),
    };
    let question = Question {
        server: &|| args.server.make(preset, false),
        workload: &|rate| source.at(0, rate),
        rate_rps: args.rps,
        target: Target {
            metric: match args.metric {
                MetricName::EndToEnd => Metric::EndToEnd,
                MetricName::FirstToken => Metric::FirstToken,
                MetricName::PerToken => Metric::PerToken,
            },
            quantile,
            limit_ms: limit.map(ms),
            goodput: args.goodput,
        },
        limits: Limits {
            ttft_ms: ms(args.ttft),
            tpot_ms: ms(args.tpot),
        },
        hit_rate: args.hit_rate,
        lookup_ms: ms(args.lookup),
        balance: args.balance.into(),
        price_per_hour: args.price,
        requests: args.requests,
        most_replicas: args.most,
    };
    let mut progress = Progress::new("replicas tried");
    let answer = plan::answer(&question, |replicas| progress.at(replicas, args.most));
    drop(progress);
    print(args, &answer, output)?;
    output.value(&answer)
}

fn print(args: &Args, answer: &Answer, output: &mut Output) -> Result<(), Error> {
    output.line(&format!(
        "One replica can take {:.4} requests a second at all.",
        answer.capacity_rps
    ))?;
    output.line(&match answer.replicas {
        Some(1) => "One replica meets the target.".to_owned(),
        Some(replicas) => format!("{replicas} replicas meet the target."),
        None => format!("Not even {} replicas meet the target.", args.most),
    })?;
    let header = [
        "fleet",
        "replicas",
        "hits %",
        "req/s",
        "load ρ",
        "meets",
        "e2e p50",
        "e2e p99",
        "TTFT p99",
        "TPOT p99",
        "good %",
        "per M tok",
    ];
    let mut table = Table::new(header);
    for fleet in &answer.fleets {
        table.row(row("", fleet));
    }
    for (name, fleet) in &answer.what_if {
        table.row(row(&format!("if: {name}"), fleet));
    }
    output.line("\nTimes in milliseconds.")?;
    output.line(&table.to_string())?;
    let mut table = Table::new(["where the time goes", "mean ms", "p50", "p99", "share %"]);
    for stage in &answer.budget {
        table.row([
            stage.stage.to_owned(),
            format!("{:.2}", stage.mean_ms),
            format!("{:.2}", stage.p50_ms),
            format!("{:.2}", stage.p99_ms),
            format!("{:.1}", stage.share * 100.0),
        ]);
    }
    output.line(&table.to_string())?;
    output.line("Means add up; percentiles do not: the sum of the stages' is only a bound.")
}

fn row(name: &str, fleet: &Fleet) -> Vec<String> {
    let price = fleet
        .price_per_million_tokens
        .map_or_else(|| "-".to_owned(), |price| format!("{price:.3}"));
    vec![
        name.to_owned(),
        fleet.replicas.to_string(),
        format!("{:.0}", fleet.hit_rate * 100.0),
        format!("{:.1}", fleet.rate_rps),
        format!("{:.3}", fleet.utilisation),
        if fleet.meets { "yes" } else { "no" }.to_owned(),
        format!("{:.1}", fleet.e2e_p50_ms),
        format!("{:.1}", fleet.e2e_p99_ms),
        format!("{:.1}", fleet.ttft_p99_ms),
        format!("{:.2}", fleet.tpot_p99_ms),
        format!("{:.1}", fleet.goodput * 100.0),
        price,
    ]
}
