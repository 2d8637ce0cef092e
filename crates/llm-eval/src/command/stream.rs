//! A stream of requests at an empty cache: the bounded policy, and others beside it.

use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;
use tower::BoxError;
use tower_semcache::bounded::Settings;

use super::Args;
use super::Progress;
use super::output::Output;
use super::table::Table;
use crate::set::{Classified, classified};
use crate::stream::{Order, Policy, Range, Scenario, Space, Summary, simulate};
use crate::vectors::Vectors;

/// What can be asked for.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "A stream of requests")]
pub(super) struct Options {
    /// Files of classified texts: send them one by one through an empty cache that bounds its wrong answers
    #[arg(long, value_name = "FILE.csv", num_args = 1.., conflicts_with_all = ["set", "labelled", "classes"])]
    pub(super) stream: Vec<PathBuf>,
    /// In how many orders
    #[arg(long, value_name = "N", default_value_t = 100)]
    shuffles: u64,
    /// shuffled, blocks (one class after the other), change (a quarter of the classes gets other answers at half time), or
    /// random (answers that have nothing to do with the texts)
    #[arg(long, value_name = "NAME", default_value = "shuffled")]
    order: Order,
    /// Shares of the answers served that may be wrong
    #[arg(
        long,
        value_name = "SHARES",
        value_delimiter = ',',
        default_value = "0.01,0.02,0.05"
    )]
    targets: Vec<f64>,
    /// The probability with which the promise is kept
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.95)]
    confidence: f64,
    /// How many wrong answers more than the share there may be
    #[arg(long, value_name = "ANSWERS", default_value_t = 100.0)]
    grace: f64,
    /// The share of would-be hits that is audited
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    audit_rate: f64,
    /// How often the judge sees a difference where there is none
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    false_alarms: f64,
    /// Neither vCache nor thresholds
    #[arg(long)]
    bounded_only: bool,
}

/// What is written.
#[derive(Debug, Serialize)]
struct Results {
    command: String,
    embedder: &'static str,
    /// Digest over the model's files.
    embedder_id: Option<String>,
    texts: usize,
    classes: usize,
    order: &'static str,
    false_alarms: f64,
    confidence: f64,
    grace: f64,
    audit_rate: f64,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    policy: String,
    max_wrong: Option<f64>,
    #[serde(flatten)]
    summary: Summary,
}

/// Thresholds that people use.
const THRESHOLDS: [f32; 3] = [0.85, 0.9, 0.95];

// === impl Options ===

impl Options {
    /// The part of the command that asks for this; folders differ from place to place.
    pub(super) fn command(&self) -> String {
        let names = self.stream.iter().filter_map(|file| file.file_name());
        let mut command = " --stream".to_owned();
        for name in names {
            command += &format!(" {}", name.to_string_lossy());
        }
        if self.order != Order::Shuffled {
            command += &format!(" --order {}", self.order.as_str());
        }
        if self.false_alarms > 0.0 {
            command += &format!(" --false-alarms {}", self.false_alarms);
        }
        command + &format!(" --shuffles {}", self.shuffles)
    }

    fn policies(&self) -> Vec<(Policy, Option<f64>)> {
        let mut policies = Vec::new();
        for target in &self.targets {
            let settings = Settings::new(*target, self.confidence, self.grace);
            let bounded = Policy::Bounded(settings.audit_rate(self.audit_rate));
            policies.push((bounded, Some(*target)));
            if !self.bounded_only {
                policies.push((Policy::Vcache(*target), Some(*target)));
            }
        }
        if !self.bounded_only {
            policies.extend(THRESHOLDS.map(|cosine| (Policy::Threshold(cosine), None)));
        }
        policies
    }
}

pub(super) fn run(args: &Args, files: &[PathBuf], output: &mut Output) -> Result<(), BoxError> {
    let options = &args.stream;
    let Classified { texts, classes } = classified(files)?;
    let vectors = Vectors::embed(args.embedder, &args.settings(), &texts)?;
    let known: Vec<_> = texts.iter().zip(classes).collect();
    let (rows, classes): (Vec<_>, Vec<_>) = known
        .into_iter()
        .filter_map(|(text, class)| Some((vectors.of(text)?, class)))
        .unzip();
    let mut names = classes.clone();
    names.sort_unstable();
    names.dedup();
    let mut progress = Progress::new("similarities");
    let space = Space::new(&rows, classes, |done| progress.at(done, rows.len()))
        .ok_or("every text has a class")?;
    drop(progress);

    let mut results = Results {
        command: args.command(),
        embedder: args.embedder.as_str(),
        embedder_id: vectors.id.as_ref().map(ToString::to_string),
        texts: space.len(),
        classes: names.len(),
        order: options.order.as_str(),
        false_alarms: options.false_alarms,
        confidence: options.confidence,
        grace: options.grace,
        audit_rate: options.audit_rate,
        rows: Vec::new(),
    };
    output.line(format!(
        "{} texts of {} classes, {} orders ({}); a mean, and the least and the largest in brackets",
        results.texts, results.classes, options.shuffles, results.order
    ))?;
    for (policy, max_wrong) in options.policies() {
        let scenario = Scenario {
            policy,
            order: options.order,
            false_alarms: options.false_alarms,
        };
        let runs: Result<Vec<_>, _> = (1..=options.shuffles)
            .into_par_iter()
            .map(|seed| simulate(&space, &scenario, seed))
            .collect();
        results.rows.push(Row {
            policy: policy.to_string(),
            max_wrong,
            summary: Summary::new(&runs?, max_wrong),
        });
    }
    output.line(table(&results.rows).to_string())?;
    output.line(
        "share kept: runs with at most the target's share wrong at the end. V <= V̄ and promise kept: runs in which, at \
         every moment,\nno more were wrong than the certificate says, and than the target's share and the graces \
         allow. V̄/N: what is certified.",
    )?;
    output.value(&results)?;
    let name = match options.order {
        Order::Shuffled if options.false_alarms > 0.0 => "cache_eval_stream_noise.json".to_owned(),
        Order::Shuffled => "cache_eval_stream.json".to_owned(),
        order => format!("cache_eval_stream_{}.json", order.as_str()),
    };
    output.save(&name, &results)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "policy",
        "target %",
        "hits %",
        "wrong of hits %",
        "share kept",
        "V <= V̄",
        "promise kept",
        "V̄/N %",
        "restarts",
        "judged",
        "later",
    ]);
    let percent = |range: &Range| {
        let Range { mean, min, max } = range;
        format!("{:.1} [{:.1} {:.1}]", mean * 1e2, min * 1e2, max * 1e2)
    };
    for row in rows {
        let Summary {
            runs,
            hits,
            wrong,
            judged,
            judged_late,
            kept_share,
            kept_bound,
            kept_promise,
            certified,
            restarts,
            ..
        } = &row.summary;
        let of =
            |count: &Option<usize>| count.map_or("-".into(), |count| format!("{count}/{runs}"));
        table.row([
            row.policy.clone(),
            row.max_wrong
                .map_or("-".into(), |share| format!("{}", share * 1e2)),
            percent(hits),
            format!(
                "{:.2} [{:.2} {:.2}]",
                wrong.mean * 1e2,
                wrong.min * 1e2,
                wrong.max * 1e2
            ),
            of(kept_share),
            of(kept_bound),
            of(kept_promise),
            certified.as_ref().map_or("-".into(), percent),
            restarts.as_ref().map_or("-".into(), |range| {
                format!("{:.2} [{:.0}]", range.mean, range.max)
            }),
            format!("{:.2}", judged.mean),
            format!("{:.2}", judged_late.mean),
        ]);
    }
    table
}
