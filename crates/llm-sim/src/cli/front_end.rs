//! `front-end`: what stands before the servers, and what it is worth.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::output::{Output, Progress, Table, interval};
use crate::{
    error::Error,
    metrics::Interval,
    plot::{Chart, Line, Scale},
    study::front_end::{self, Experiment, Plan, Savings},
};

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Only this experiment: it is printed, and no file is written.
    #[arg(long, value_parser = name)]
    experiment: Option<String>,
    /// Seeds.
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// Requests a run.
    #[arg(long, default_value_t = 10_000)]
    requests: usize,
    /// Only run little, and compare it with what this file says of it, number by number.
    #[arg(long)]
    check: Option<PathBuf>,
}

/// What `results/front_end.json` holds.
#[derive(Debug, Serialize)]
struct Results {
    command: String,
    about: &'static str,
    seeds: u64,
    experiments: Vec<Experiment>,
    savings: Vec<Savings>,
    check: Check,
}

/// Small runs, for a check that is soon done: the mean of each figure.
#[derive(Debug, Deserialize, Serialize)]
struct Check {
    seeds: u64,
    requests: usize,
    means: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
struct Published {
    check: Check,
}

const ABOUT: &str = "means over the seeds with 95 % intervals, on the reference's accelerator; \
`prototype` is an indicative figure of a prototype in another language, with one seed";

/// The loads of the headline, requests a second.
const LOADS: [f64; 10] = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0];

fn name(text: &str) -> Result<String, String> {
    let names = front_end::ALL.map(|(name, _)| name);
    match names.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("there are {}", names.join(", "))),
    }
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), Error> {
    if let Some(file) = &args.check {
        return check(file, output);
    }
    let plan = Plan {
        seeds: args.seeds,
        requests: args.requests,
    };
    let mut progress = Progress::new("experiments");
    let mut experiments = Vec::new();
    for (number, (name, run)) in front_end::ALL.into_iter().enumerate() {
        if args.experiment.as_deref().is_none_or(|only| only == name) {
            progress.at(number, front_end::ALL.len());
            let experiment = run(&plan);
            print(&experiment, output)?;
            experiments.push(experiment);
        }
    }
    drop(progress);
    if args.experiment.is_some() {
        return output.value(&experiments);
    }
    let mut progress = Progress::new("loads");
    let savings = front_end::savings(&plan, &LOADS, |done, of| progress.at(done, of));
    drop(progress);
    print_savings(&savings, output)?;
    plots(&savings, output)?;
    let results = Results {
        command: format!(
            "cargo xtask sim front-end --seeds {} --requests {}",
            args.seeds, args.requests
        ),
        about: ABOUT,
        seeds: args.seeds,
        experiments,
        savings,
        check: small(),
    };
    output.save("front_end.json", &results)?;
    output.value(&results)
}

/// The small runs that a check repeats.
fn small() -> Check {
    let plan = Plan {
        seeds: 2,
        requests: 1500,
    };
    let mut means = BTreeMap::new();
    for (_, run) in front_end::ALL {
        let experiment = run(&plan);
        for row in &experiment.rows {
            for measure in &row.measures {
                let name = format!("{}: {}: {}", experiment.name, row.variant, measure.name);
                means.insert(name, measure.ours.mean);
            }
        }
    }
    Check {
        seeds: plan.seeds,
        requests: plan.requests,
        means,
    }
}

fn check(file: &PathBuf, output: &mut Output) -> Result<(), Error> {
    let text = std::fs::read_to_string(file).map_err(|source| Error::read(file, source))?;
    let Published { check } = serde_json::from_str(&text)
        .map_err(|source| Error::with(format!("{} is no result", file.display()), source))?;
    let mut differ = 0;
    let means = small().means;
    let names: std::collections::BTreeSet<_> = means.keys().chain(check.means.keys()).collect();
    for name in &names {
        let (ours, theirs) = (means.get(*name), check.means.get(*name));
        let equal = ours.zip(theirs).is_some_and(|(ours, theirs)| {
            // The last bits of logarithms are the platform's.
            (ours - theirs).abs() <= 1e-9 * theirs.abs()
        });
        if !equal {
            differ += 1;
            output.line(&format!("{name}: {ours:?}, published {theirs:?}"))?;
        }
    }
    let count = names.len();
    output.line(&format!("{} of {count} numbers equal", count - differ))?;
    match differ {
        0 if count > 0 => Ok(()),
        _ => Err(Error::new(format!("{differ} of {count} numbers differ"))),
    }
}

/// Three significant digits.
fn short(value: Interval) -> String {
    let digits = match value.mean.abs() {
        mean if mean >= 100.0 => 0,
        mean if mean >= 10.0 => 1,
        mean if mean >= 1.0 => 2,
        _ => 3,
    };
    interval(value, digits)
}

fn print(experiment: &Experiment, output: &mut Output) -> Result<(), Error> {
    let Experiment {
        name,
        title,
        setting,
        requests,
        note,
        rows,
    } = experiment;
    output.line(&format!("{name}: {title}\n{setting}; {requests} requests"))?;
    let names = rows.iter().flat_map(|row| &row.measures);
    let mut columns: Vec<&str> = names.map(|measure| measure.name).collect();
    let mut seen = Vec::new();
    columns.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    let compared = |column: &str| {
        rows.iter()
            .flat_map(|row| &row.measures)
            .any(|measure| measure.name == column && measure.prototype.is_some())
    };
    let mut first = vec!["variant".to_owned()];
    for column in &columns {
        first.push((*column).to_owned());
        if compared(column) {
            first.push("prototype".to_owned());
        }
    }
    let mut table = Table::new(first);
    for row in rows {
        let mut cells = vec![row.variant.clone()];
        for measure in &row.measures {
            cells.push(short(measure.ours));
            if compared(measure.name) {
                cells.push(
                    measure
                        .prototype
                        .map_or_else(String::new, |x| x.to_string()),
                );
            }
        }
        table.row(cells);
    }
    output.line(&table.to_string())?;
    match note.is_empty() {
        true => Ok(()),
        false => output.line(&format!("{note}\n")),
    }
}

fn print_savings(savings: &[Savings], output: &mut Output) -> Result<(), Error> {
    output.line("What single flight saves, against load (* where the queue grows without end)")?;
    let mut table = Table::new(["front", "req/s", "saved %", "E2E p95 s"]);
    for point in savings {
        let star = if point.stationary { "" } else { "*" };
        table.row([
            point.front.to_owned(),
            format!("{}{star}", point.rate_rps),
            format!(
                "{:.1} ± {:.1}",
                100.0 * point.saved.mean,
                100.0 * point.saved.half_width
            ),
            interval(point.e2e_p95_s, 2),
        ]);
    }
    output.line(&table.to_string())
}

fn plots(savings: &[Savings], output: &mut Output) -> Result<(), Error> {
    const X: &str = "load, requests a second";
    let chart = |start: Chart, of: &dyn Fn(&Savings) -> Option<Interval>| {
        let mut fronts: Vec<&str> = savings.iter().map(|point| point.front).collect();
        fronts.dedup();
        fronts.iter().fold(start, |chart, front| {
            let points: Vec<_> = savings
                .iter()
                .filter(|point| point.front == *front)
                .filter_map(|point| {
                    let value = of(point)?;
                    Some((point.rate_rps, value.mean, value.half_width))
                })
                .collect();
            match points.is_empty() {
                true => chart,
                false => chart.line(Line::new(*front, points)),
            }
        })
    };
    let saved = chart(
        Chart::new("Generations saved", X, "percent of requests"),
        &|point| {
            (point.front != "neither").then_some(Interval {
                mean: 100.0 * point.saved.mean,
                half_width: 100.0 * point.saved.half_width,
            })
        },
    );
    output.save_text("plots/front_end_saved.svg", &saved.svg())?;
    let latency = chart(
        Chart::new("Latency (stationary loads)", X, "95th percentile, seconds")
            .scale(Scale::Logarithmic),
        &|point| point.stationary.then_some(point.e2e_p95_s),
    );
    output.save_text("plots/front_end_latency.svg", &latency.svg())
}
