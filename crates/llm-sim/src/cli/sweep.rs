//! `sweep`: a range of loads.

use super::{
    fleet::{BalanceName, ServerArgs, WorkloadArgs, duration, ms},
    output::{Output, Progress, Table, interval},
};
use crate::{
    error::Error,
    metrics::Limits,
    plot::{Chart, Line, Scale},
    server::ServerStats,
    study::{self, Point, Setup},
};

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Loads, requests a second.
    #[arg(long, value_delimiter = ',', required = true)]
    loads: Vec<f64>,
    /// Servers.
    #[arg(long, default_value_t = 1)]
    replicas: usize,
    /// How requests are dealt out to them.
    #[arg(long, value_enum, default_value_t = BalanceName::LeastOutstanding)]
    balance: BalanceName,
    /// Seeds.
    #[arg(long, default_value_t = 10)]
    seeds: u64,
    /// Requests a run.
    #[arg(long, default_value_t = 10_000)]
    requests: usize,
    /// Limit on the time to the first token, for goodput.
    #[arg(long, value_parser = duration, default_value = "500ms")]
    ttft: std::time::Duration,
    /// Limit on the time a token, for goodput.
    #[arg(long, value_parser = duration, default_value = "50ms")]
    tpot: std::time::Duration,
    /// Write plots, their names beginning with this.
    #[arg(long)]
    plots: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    workload: WorkloadArgs,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Error> {
    let preset = args.server.preset()?;
    let source = args.workload.source(preset)?;
    let setup = Setup {
        server: &|| args.server.make(preset, args.plots.is_some()),
        workload: &|seed, rate| source.at(seed, rate),
        replicas: args.replicas.max(1),
        balance: args.balance.into(),
        requests: args.requests,
        warm_up: args.requests as u64 / 10,
        seeds: args.seeds.max(1),
        limits: Limits {
            ttft_ms: ms(args.ttft),
            tpot_ms: ms(args.tpot),
        },
    };
    let capacity_rps = study::capacity(&setup);
    let mut progress = Progress::new("runs");
    let points = study::sweep(&setup, &args.loads, capacity_rps, |done, of| {
        progress.at(done, of);
    });
    drop(progress);
    print(&points, capacity_rps, output)?;
    if let Some(name) = &args.plots {
        load_plots(name, &points, output)?;
        if let Some(rate) = args.loads.iter().copied().reduce(f64::max) {
            let (_, servers) = setup.run(0, rate);
            if let Some(stats) = servers.first() {
                time_plots(name, rate, stats, output)?;
            }
        }
    }
    output.value(&points)
}

fn print(points: &[Point], capacity_rps: f64, output: &mut Output) -> Result<(), Error> {
    output.line(&format!(
        "The servers can take {capacity_rps:.3} requests a second at all."
    ))?;
    let mut table = Table::new([
        "req/s",
        "tok/s",
        "e2e p50 s",
        "e2e p95 s",
        "e2e p99 s",
        "TTFT p95 ms",
        "ITL p99 ms",
        "seats",
        "good %",
        "KV blocks",
        "preempted/1000",
    ]);
    for point in points {
        table.row([
            format!(
                "{}{}",
                point.rate_rps,
                if point.stationary { "" } else { "*" }
            ),
            interval(point.output_tokens_per_s, 0),
            interval(point.latency_p50_s, 2),
            interval(point.latency_p95_s, 2),
            interval(point.latency_p99_s, 2),
            interval(point.ttft_p95_ms, 0),
            interval(point.itl_p99_ms, 1),
            interval(point.seats, 1),
            format!("{:.1}", point.goodput.mean * 100.0),
            format!("{:.0}", point.kv_peak_blocks.mean),
            format!("{:.1}", point.preemptions_per_1000.mean),
        ]);
    }
    output.line(&table.to_string())
}

fn load_plots(name: &str, points: &[Point], output: &mut Output) -> Result<(), Error> {
    const X: &str = "load, requests a second";
    let line = |name: &str, of: fn(&Point) -> crate::metrics::Interval| {
        let points = points.iter().map(|point| {
            let value = of(point);
            (point.rate_rps, value.mean, value.half_width)
        });
        Line::new(name, points.collect())
    };
    let latency = Chart::new("Latency against load", X, "seconds")
        .scale(Scale::Logarithmic)
        .line(line("median", |point| point.latency_p50_s))
        .line(line("95th percentile", |point| point.latency_p95_s))
        .line(line("99th percentile", |point| point.latency_p99_s));
    output.save_text(&format!("plots/{name}_latency.svg"), &latency.svg())?;
    let goodput = Chart::new("Goodput", X, "share of requests within the limits")
        .line(line("goodput", |point| point.goodput));
    output.save_text(&format!("plots/{name}_goodput.svg"), &goodput.svg())?;
    let seats =
        Chart::new("Seats used", X, "sequences a step").line(line("seats", |point| point.seats));
    output.save_text(&format!("plots/{name}_seats.svg"), &seats.svg())
}

fn time_plots(
    name: &str,
    rate: f64,
    stats: &ServerStats,
    output: &mut Output,
) -> Result<(), Error> {
    const X: &str = "time, seconds";
    let Some(series) = &stats.series else {
        return output.line("(this scheduler keeps no series over time)");
    };
    // A picture has no use for more points than this.
    let thin = series.samples().len().div_ceil(500).max(1);
    let line = |name: &str, at: usize, scale: f64| {
        let points = series.samples().iter().step_by(thin).map(|(ms, values)| {
            (
                ms / 1000.0,
                values.get(at).copied().unwrap_or(0.0) * scale,
                0.0,
            )
        });
        Line::new(name, points.collect())
    };
    let kv = Chart::new(
        format!("KV use at {rate} requests a second"),
        X,
        "per cent of the blocks",
    )
    .line(line("KV blocks in use", 2, 100.0));
    output.save_text(&format!("plots/{name}_kv.svg"), &kv.svg())?;
    let queue = Chart::new(
        format!("Sequences and preemptions at {rate} requests a second"),
        X,
        "count",
    )
    .line(line("waiting", 0, 1.0))
    .line(line("running", 1, 1.0))
    .line(line("preemptions so far", 3, 1.0));
    output.save_text(&format!("plots/{name}_queue.svg"), &queue.svg())
}
