//! A labelled set: thresholds from one half, results on the other.

use std::collections::BTreeMap;

use llm_sim::plot::{Chart, Line};
use serde::{Deserialize, Serialize};
use tower::BoxError;

use super::Args;
use super::args::Source;
use super::check::Check;
use super::output::Output;
use super::table::Table;
use crate::score::{Counts, Limit, Outcome, Point, Share, Thresholds, curve, outcomes};
use crate::set::{Half, Set};
use crate::vectors::{self, Vectors};

/// What is written.
#[derive(Debug, Serialize)]
struct Results {
    command: String,
    set: String,
    embedder: Embedder,
    guard: &'static str,
    thresholds: Thresholds,
    intervals: &'static str,
    dev: Summary,
    test: Summary,
    families: BTreeMap<String, Counts>,
    curves: BTreeMap<String, Vec<Point>>,
}

#[derive(Debug, Serialize)]
struct Embedder {
    name: &'static str,
    /// Digest over the model's files.
    id: Option<String>,
    refused_texts: usize,
}

/// What the thresholds do on one half.
#[derive(Debug, Serialize)]
struct Summary {
    #[serde(flatten)]
    counts: Counts,
    served_of_answerable: Share,
    wrong_of_traps: Share,
    wrong_of_served: Share,
}

/// The one line for programs.
#[derive(Debug, Serialize)]
struct Short<'a> {
    set: &'a str,
    embedder: &'static str,
    guard: &'static str,
    threshold: Option<f64>,
    half: &'static str,
    served_of_should_hit: Option<f64>,
    wrong_of_traps: Option<f64>,
    wrong_of_served: Option<f64>,
    /// No judge is asked where nothing is audited.
    judge_calls: u64,
}

/// What a check reads of an earlier result.
#[derive(Debug, Deserialize)]
struct Earlier {
    dev: EarlierCounts,
    test: EarlierCounts,
}

#[derive(Debug, Deserialize)]
struct EarlierCounts {
    answerable: usize,
    traps: usize,
    hits: usize,
    wrong: usize,
}

pub(super) fn run(args: &Args, set: &Set, output: &mut Output) -> Result<(), BoxError> {
    let vectors = Vectors::embed(args.embedder, &args.settings(), &set.texts())?;
    let outcomes = outcomes(set, &vectors, &args.guard.guards());
    let of = |half| outcomes.iter().filter(move |outcome| outcome.half == half);
    let thresholds = match args.fixed_threshold() {
        Some(threshold) => Thresholds {
            general: Some(threshold),
            families: BTreeMap::new(),
        },
        None => Thresholds::learn(args.limit(), of(Half::Dev)),
    };
    let summary = |half| Summary::new(Counts::with(|family| thresholds.of(family), of(half)));
    let results = Results {
        command: args.command(),
        set: set.name.clone(),
        embedder: Embedder {
            name: args.embedder.as_str(),
            id: vectors.id.map(|id| id.to_string()),
            refused_texts: vectors.refused,
        },
        guard: args.guard.as_str(),
        intervals: "Clopper-Pearson, 95 %",
        dev: summary(Half::Dev),
        test: summary(Half::Test),
        families: families(&thresholds, &outcomes),
        curves: [Half::Dev, Half::Test]
            .map(|half| (half.to_string(), curve(of(half))))
            .into(),
        thresholds,
    };
    print(args, &results, output)?;
    output.value(&results.short())?;
    if let Some(file) = args.expected() {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let earlier: Earlier =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        return check(&earlier, &results).finish(output);
    }
    if args.checks() {
        return Err("--check needs a FILE here: the result of an earlier run".into());
    }
    save(args, &results, output)
}

fn families(thresholds: &Thresholds, outcomes: &[Outcome]) -> BTreeMap<String, Counts> {
    let mut families: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.half == Half::Test) {
        let family = outcome.family.clone();
        families.entry(family).or_default().push(outcome);
    }
    let counts = families.into_iter().map(|(family, outcomes)| {
        let counts = Counts::with(|family| thresholds.of(family), outcomes.into_iter());
        (family, counts)
    });
    counts.collect()
}

fn print(args: &Args, results: &Results, output: &mut Output) -> Result<(), BoxError> {
    let Results {
        set,
        embedder,
        guard,
        thresholds,
        ..
    } = results;
    output.line(format!("{set}: embedder {}, guard {guard}", embedder.name))?;
    if embedder.refused_texts > 0 {
        let refused = embedder.refused_texts;
        output.line(format!(
            "{refused} texts have no vector (past the window), and never match"
        ))?;
    }
    let found = match args.fixed_threshold() {
        Some(_) => "as asked".to_owned(),
        None => match args.limit() {
            Limit::WrongOfTraps(most) => {
                let most = 100.0 * most;
                format!("lowest on dev that serves at most {most} % of the traps")
            }
            Limit::WrongOfServed(most) => {
                let most = 100.0 * most;
                format!("lowest on dev with at most {most} % wrong of what is served")
            }
        },
    };
    output.line(format!(
        "threshold {} ({found})\n",
        shown(thresholds.general)
    ))?;
    let mut table = Table::new([
        "half",
        "served of answerable",
        "wrong of traps",
        "wrong of served",
    ]);
    for (half, summary) in [("dev", &results.dev), ("test", &results.test)] {
        table.row([
            half.to_owned(),
            summary.served_of_answerable.to_string(),
            summary.wrong_of_traps.to_string(),
            summary.wrong_of_served.to_string(),
        ]);
    }
    output.line(table.to_string())?;
    output.line("In brackets: counts, and the Clopper-Pearson interval of 95 % in percent.\n")?;
    let mut table = Table::new([
        "family, test half",
        "threshold",
        "answerable",
        "served",
        "traps",
        "wrong",
    ]);
    // A set of many classes would fill pages: those with something wrong come first, and 40 are shown.
    let mut rows: Vec<_> = results.families.iter().collect();
    rows.sort_by_key(|(family, counts)| (std::cmp::Reverse(counts.wrong), (*family).clone()));
    for (family, counts) in rows.iter().take(FAMILIES_SHOWN) {
        table.row([
            family.to_string(),
            shown(thresholds.of(family)),
            counts.answerable.to_string(),
            counts.hits.to_string(),
            counts.traps.to_string(),
            counts.wrong.to_string(),
        ]);
    }
    output.line(table.to_string())?;
    if rows.len() > FAMILIES_SHOWN {
        output.line(format!("… and {} more\n", rows.len() - FAMILIES_SHOWN))?;
    }
    output.line(recommendation(results))
}

const FAMILIES_SHOWN: usize = 40;

fn shown(threshold: Option<f64>) -> String {
    threshold.map_or_else(
        || "exact only".to_owned(),
        |threshold| format!("{threshold:.2}"),
    )
}

/// What to paste into the gateway's settings.
fn recommendation(results: &Results) -> String {
    let Results {
        thresholds,
        test,
        embedder,
        guard,
        ..
    } = results;
    let Some(threshold) = thresholds.general else {
        return "Recommended for llm-front.toml:\n\n    # No threshold was good enough on this set.\n    \
                semantic = \"off\"\n"
            .to_owned();
    };
    // The gateway says "off" where it asks no guard.
    let guard = if *guard == "none" { "off" } else { *guard };
    let semantic = match embedder.name {
        name if name == vectors::Named::HashedWords.as_str() => "hashed",
        name => name,
    };
    format!(
        "Recommended for llm-front.toml:\n\n    \
         # On texts it was not found on: served {} of what could be,\n    \
         # wrong of served {}.\n    \
         semantic = \"{semantic}\"\n    threshold = {threshold:.2}\n    guard = \"{guard}\"\n",
        test.served_of_answerable, test.wrong_of_served
    )
}

fn check(earlier: &Earlier, results: &Results) -> Check {
    let mut check = Check::default();
    for (half, earlier, found) in [
        ("dev", &earlier.dev, &results.dev.counts),
        ("test", &earlier.test, &results.test.counts),
    ] {
        check.equal(
            format!("{half}: answerable"),
            earlier.answerable,
            found.answerable,
        );
        check.equal(format!("{half}: traps"), earlier.traps, found.traps);
        check.equal(format!("{half}: served"), earlier.hits, found.hits);
        check.equal(format!("{half}: wrong"), earlier.wrong, found.wrong);
    }
    check
}

fn save(args: &Args, results: &Results, output: &mut Output) -> Result<(), BoxError> {
    let name = match args.source() {
        Source::Own => "cache_eval",
        _ => "cache_eval_labelled",
    };
    output.save(&format!("{name}.json"), results)?;
    let line = |half: Half| {
        let points = results.curves.get(&half.to_string()).into_iter().flatten();
        let points = points.filter_map(|Point { counts, .. }| {
            let wrong = counts.wrong_of_served().value()?;
            Some((
                100.0 * wrong,
                100.0 * counts.served_of_answerable().value()?,
                0.0,
            ))
        });
        Line::new(half.to_string(), points.collect())
    };
    let chart = Chart::new(
        format!(
            "{}, guard {}: a point a threshold",
            results.embedder.name, results.guard
        ),
        "wrong of served, %",
        "served of answerable, %",
    );
    let chart = chart.line(line(Half::Dev)).line(line(Half::Test));
    output.save_text(&format!("plots/{name}.svg"), &chart.svg())
}

// === impl Summary ===

impl Summary {
    fn new(counts: Counts) -> Self {
        Self {
            served_of_answerable: counts.served_of_answerable(),
            wrong_of_traps: counts.wrong_of_traps(),
            wrong_of_served: counts.wrong_of_served(),
            counts,
        }
    }
}

// === impl Results ===

impl Results {
    fn short(&self) -> Short<'_> {
        Short {
            set: &self.set,
            embedder: self.embedder.name,
            guard: self.guard,
            threshold: self.thresholds.general,
            half: "test",
            served_of_should_hit: self.test.served_of_answerable.value(),
            wrong_of_traps: self.test.wrong_of_traps.value(),
            wrong_of_served: self.test.wrong_of_served.value(),
            judge_calls: 0,
        }
    }
}
