//! What the rounds come to, and the marks.

use super::cpu::Measured;
use super::first_byte::FirstByte;
use super::path::Path;
use crate::BoxError;
use crate::cli::Experiment;
use crate::measure::Spread;
use crate::process::Nginx;
use crate::report::{Check, Machine, Report, Table};
use serde::Serialize;
use serde_json::json;

/// A path, nginx's path it is held against, and how many times that it may cost.
const MARKS: [(Path, Path, f64); 3] = [
    (Path::Bypass, Path::Proxy, 2.0),
    (Path::Miss, Path::Proxy, 2.6),
    (Path::Hit, Path::CachedHit, 1.5),
];

const FIRST_BYTE_US: f64 = 300.0;

const IDLE_MIB: f64 = 20.0;

#[derive(Debug, Serialize)]
struct Cost {
    path: &'static str,
    cpu_us: Spread,
    requests_per_second: Spread,
    #[serde(skip_serializing_if = "Option::is_none")]
    by_nginx: Option<Spread>,
}

pub(super) fn report(
    cli: &Experiment,
    paths: &[Measured],
    first_bytes: &[FirstByte],
    idle_mib: f64,
) -> Result<Report, BoxError> {
    let mut checks = Vec::new();
    for (path, beside, limit) in MARKS {
        if let Some(ratio) = ratio(paths, path, beside) {
            let figure = format!("CPU time, {} by {}", path.word(), beside.word());
            checks.push(Check::at_most(figure, limit, ratio.median, " ×"));
        }
    }
    for figure in first_bytes
        .iter()
        .filter(|figure| figure.path != Path::Proxy)
    {
        let name = format!(
            "first byte of a stream, {}, p50 behind the upstream's",
            figure.way
        );
        checks.push(Check::at_most(
            name,
            FIRST_BYTE_US,
            figure.behind_p50_us,
            " µs",
        ));
    }
    checks.push(Check::at_most(
        "memory when idle",
        IDLE_MIB,
        idle_mib,
        " MiB",
    ));
    let costs: Vec<Cost> = paths.iter().map(|measured| cost(paths, measured)).collect();
    let nginx = Nginx::version();
    let mut notes = vec!["the front end runs with its default settings, on one CPU; each path's rate is bounded by the load generator and the upstream, which share the other".to_owned()];
    if nginx.is_none() {
        notes.push(
            "nginx is not installed: the ratios to it were not measured and not checked".to_owned(),
        );
    }
    Ok(Report {
        scenario: "overhead",
        command: cli.again(),
        machine: Machine::here(),
        expected: json!({
            "by_nginx_at_most": MARKS.map(|(path, beside, limit)| json!({ "path": path.word(), "by": beside.word(), "limit": limit })),
            "first_byte_behind_p50_us_at_most": FIRST_BYTE_US,
            "idle_mib_at_most": IDLE_MIB,
        }),
        tables: vec![cpu_table(cli, &costs), first_byte_table(first_bytes)],
        measured: json!({ "nginx": nginx, "cpu": costs, "first_byte": first_bytes, "idle_mib": idle_mib }),
        checks,
        notes,
    })
}

fn ratio(paths: &[Measured], above: Path, below: Path) -> Option<Spread> {
    let rounds = |path| {
        paths
            .iter()
            .find(|measured| measured.path == path)
            .map(|measured| &measured.cpu_us)
    };
    Some(Spread::of_ratio(rounds(above)?, rounds(below)?))
}

fn cost(paths: &[Measured], measured: &Measured) -> Cost {
    let mark = MARKS.iter().find(|(path, ..)| *path == measured.path);
    Cost {
        path: measured.path.word(),
        cpu_us: Spread::of(measured.cpu_us.iter().copied()),
        requests_per_second: Spread::of(measured.rate.iter().copied()),
        by_nginx: mark.and_then(|(path, beside, _)| ratio(paths, *path, *beside)),
    }
}

fn cpu_table(cli: &Experiment, costs: &[Cost]) -> Table {
    let mut table = Table::new(
        format!(
            "overhead: CPU time a request, {} rounds of {} requests, median (least–most) of the rounds",
            cli.rounds, cli.requests
        ),
        ["", "µs", "by nginx", "requests/s"],
    );
    for Cost {
        path,
        cpu_us,
        requests_per_second,
        by_nginx,
    } in costs
    {
        let by_nginx = by_nginx.map_or_else(String::new, |ratio| format!("{ratio:.2} ×"));
        table.row([
            (*path).to_owned(),
            format!("{cpu_us:.1}"),
            by_nginx,
            format!("{:.0}", requests_per_second.median),
        ]);
    }
    table
}

fn first_byte_table(first_bytes: &[FirstByte]) -> Table {
    let mut table = Table::new(
        "overhead: first byte of a stream, one at a time (microseconds)",
        ["", "p50", "behind the upstream's, p50", "p99"],
    );
    for figure in first_bytes {
        table.row([
            figure.way.to_owned(),
            format!("{:.0}", figure.p50_us),
            format!("{:.0}", figure.behind_p50_us),
            format!("{:.0}", figure.behind_p99_us),
        ]);
    }
    table
}
