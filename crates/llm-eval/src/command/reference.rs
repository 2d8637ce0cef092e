//! The reference system's evaluation, number by number, and ours beside it.

use std::collections::BTreeMap;

use llm_sim::plot::{Chart, Line};
use serde::Serialize;
use serde_json::Value;
use tower::BoxError;

use super::Args;
use super::check::Check;
use super::output::Output;
use super::table::Table;
use crate::guards;
use crate::score::{Counts, Limit, Outcome, Point, Share, Thresholds, curve, lowest, outcomes};
use crate::set::{self, Half, Reference, Set};
use crate::vectors::{self, Vectors};

/// A row of the published results: its key in the file, its name, and what makes it.
type Row = (&'static str, &'static str, vectors::Named, guards::Named);

const NOTHING_WRONG: Limit = Limit::WrongOfServed(0.0);

const ROWS: [Row; 6] = {
    use guards::Named::{Literal, None};
    use vectors::Named::{Hashed, HashedWords, Minilm};
    [
        ("lexical", "unigrams", HashedWords, None),
        ("lexical", "unigrams + literal guard", HashedWords, Literal),
        ("lexical", "uni+bigrams", Hashed, None),
        ("lexical", "uni+bigrams + literal guard", Hashed, Literal),
        ("minilm", "MiniLM-L6", Minilm, None),
        ("minilm", "MiniLM-L6 + literal guard", Minilm, Literal),
    ]
};

#[derive(Debug, Serialize)]
struct Results {
    command: String,
    rows: BTreeMap<&'static str, Scored>,
    ours: Option<Ours>,
}

/// What the reference draws from its curve.
#[derive(Debug, Serialize)]
struct Scored {
    at_0_96: Counts,
    best_with_no_wrong_answers: Option<Point>,
    per_family_thresholds: BTreeMap<String, f64>,
    per_family_hit_rate_pct: f64,
    curve: Vec<Point>,
}

/// Our guards, with a threshold that was found on our own set.
#[derive(Debug, Serialize)]
struct Ours {
    /// Said by the command already.
    #[serde(skip)]
    embedder: vectors::Named,
    guard: &'static str,
    threshold_found_on: &'static str,
    threshold: Option<f64>,
    counts: Counts,
    served_of_answerable: Share,
    wrong_of_served: Share,
    families: BTreeMap<String, Counts>,
    curve: Vec<Point>,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<(), BoxError> {
    let Reference { set, expected } = set::reference(&args.data).map_err(|error| {
        let fix = "--data names the folder of the public data";
        format!("{error}: {fix}")
    })?;
    let settings = args.settings();
    let texts = set.texts();
    let mut embedded: Vec<(vectors::Named, Vectors)> = Vec::new();
    for embedder in [vectors::Named::HashedWords, vectors::Named::Hashed] {
        embedded.push((embedder, Vectors::embed(embedder, &settings, &texts)?));
    }
    let ours_by = match args.embedder {
        vectors::Named::MinilmInt8 => vectors::Named::MinilmInt8,
        _ => vectors::Named::Minilm,
    };
    if settings.has_minilm() {
        embedded.push((
            vectors::Named::Minilm,
            Vectors::embed(vectors::Named::Minilm, &settings, &texts)?,
        ));
        if ours_by != vectors::Named::Minilm {
            embedded.push((ours_by, Vectors::embed(ours_by, &settings, &texts)?));
        }
    } else {
        let folder = settings.folder.display();
        output.line(format!(
            "SKIPPED: the rows of MiniLM: no model in {folder} (`cargo xtask model fetch`)"
        ))?;
    }
    let vectors = |named| {
        let mut embedded = embedded.iter();
        embedded.find_map(|(name, vectors)| (*name == named).then_some(vectors))
    };

    let mut rows = BTreeMap::new();
    let mut check = Check::default();
    for (kind, name, embedder, guard) in ROWS {
        let Some(vectors) = vectors(embedder) else {
            continue;
        };
        let scored = Scored::new(&outcomes(&set, vectors, &guard.guards()));
        compare(
            name,
            expected.pointer(&format!("/{kind}/{name}")),
            &scored,
            &mut check,
        )?;
        rows.insert(name, scored);
    }
    let ours = match vectors(ours_by) {
        Some(vectors) => Some(ours(args, ours_by, &settings, &set, vectors)?),
        None => None,
    };
    let results = Results {
        command: args.command(),
        rows,
        ours,
    };
    print(&results, output)?;
    output.value(&results.ours)?;
    check.finish(output)?;
    save(&results, output)
}

fn ours(
    args: &Args,
    embedder: vectors::Named,
    settings: &vectors::Settings,
    set: &Set,
    embedded: &Vectors,
) -> Result<Ours, BoxError> {
    let guards = args.guard.guards();
    let thresholds = match args.fixed_threshold() {
        Some(threshold) => Some(threshold),
        None => {
            let own = set::own()?;
            let vectors = Vectors::embed(embedder, settings, &own.texts())?;
            let found = outcomes(&own, &vectors, &guards);
            let dev = found.iter().filter(|outcome| outcome.half == Half::Dev);
            // Of families that our set has, this one has none: the general threshold it is.
            Thresholds::learn(args.limit(), dev).general
        }
    };
    let found = outcomes(set, embedded, &guards);
    let counts = Counts::with(|_| thresholds, found.iter());
    let families = by_family(&found)
        .into_iter()
        .map(|(family, outcomes)| (family, Counts::with(|_| thresholds, outcomes.into_iter())));
    Ok(Ours {
        embedder,
        guard: args.guard.as_str(),
        threshold_found_on: "own, dev half",
        threshold: thresholds,
        served_of_answerable: counts.served_of_answerable(),
        wrong_of_served: counts.wrong_of_served(),
        families: families.collect(),
        curve: curve(found.iter()),
        counts,
    })
}

fn by_family(outcomes: &[Outcome]) -> BTreeMap<String, Vec<&Outcome>> {
    let mut families: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for outcome in outcomes {
        let family = outcome.family.clone();
        families.entry(family).or_default().push(outcome);
    }
    families
}

fn compare(
    name: &str,
    expected: Option<&Value>,
    scored: &Scored,
    check: &mut Check,
) -> Result<(), BoxError> {
    let expected = expected.ok_or_else(|| format!("expected.json has no row `{name}`"))?;
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64);
    let shown = |value: Option<u64>| value.map_or_else(|| "nothing".to_owned(), |n| n.to_string());
    let mut equal = |what: String, expected: Option<u64>, found: usize| {
        check.equal(
            format!("{name}, {what}"),
            shown(expected),
            found.to_string(),
        );
    };
    let at = &expected["at_0.96"];
    equal(
        "hits at 0.96".to_owned(),
        number(at, "hits"),
        scored.at_0_96.hits,
    );
    equal(
        "wrong at 0.96".to_owned(),
        number(at, "wrong"),
        scored.at_0_96.wrong,
    );
    for (threshold, [hits, wrong]) in points(expected) {
        let mut curve = scored.curve.iter();
        let point = curve.find(|point| (point.threshold - threshold).abs() < 1e-9);
        let Point { counts, .. } = point.ok_or("a threshold off the grid")?;
        equal(format!("hits at {threshold}"), hits, counts.hits);
        equal(format!("wrong at {threshold}"), wrong, counts.wrong);
    }

    let best = &expected["best_with_no_wrong_answers"];
    let found = scored.best_with_no_wrong_answers;
    let found = found.map(|Point { threshold, counts }| (threshold, counts.hits as u64));
    let best = best["threshold"].as_f64().zip(best["hits"].as_u64());
    check.equal(
        format!("{name}, best without a wrong answer"),
        format!("{best:?}"),
        format!("{found:?}"),
    );
    let families: BTreeMap<String, f64> =
        serde_json::from_value(expected["per_family_thresholds"].clone())?;
    check.equal(
        format!("{name}, thresholds a family"),
        format!("{families:?}"),
        format!("{:?}", scored.per_family_thresholds),
    );
    check.equal(
        format!("{name}, hit rate with them"),
        expected["per_family_hit_rate_pct"]
            .as_f64()
            .unwrap_or(f64::NAN),
        scored.per_family_hit_rate_pct,
    );
    Ok(())
}

/// The published points of a curve: all of it, or some.
fn points(expected: &Value) -> Vec<(f64, [Option<u64>; 2])> {
    let count = |value: &Value, at: usize| value.get(at).and_then(Value::as_u64);
    if let Some(points) = expected["curve_points"].as_object() {
        let points = points.iter().filter_map(|(threshold, point)| {
            Some((threshold.parse().ok()?, [0, 1].map(|at| count(point, at))))
        });
        return points.collect();
    }
    let points = expected["curve"].as_array().into_iter().flatten();
    let points = points
        .filter_map(|point| Some((point.get(0)?.as_f64()?, [1, 2].map(|at| count(point, at)))));
    points.collect()
}

fn print(results: &Results, output: &mut Output) -> Result<(), BoxError> {
    let mut table = Table::new([
        "embedder and guard",
        "hits at 0.96",
        "wrong",
        "without a wrong one",
        "a threshold a family, %",
    ]);
    for (_, name, ..) in ROWS {
        let Some(scored) = results.rows.get(name) else {
            continue;
        };
        table.row([
            name.to_owned(),
            scored.at_0_96.hits.to_string(),
            scored.at_0_96.wrong.to_string(),
            scored.best_with_no_wrong_answers.map_or_else(
                || "none".to_owned(),
                |point| format!("{} at {}", point.counts.hits, point.threshold),
            ),
            format!("{:.1}", scored.per_family_hit_rate_pct),
        ]);
    }
    output.line(table.to_string())?;
    let Some(ours) = &results.ours else {
        return Ok(());
    };
    let threshold = ours.threshold.map_or_else(
        || "exact only".to_owned(),
        |threshold| format!("{threshold:.2}"),
    );
    output.line(format!(
        "{}, guard {}, threshold {threshold}, found on our own set:\n\
         served {} of what could be; wrong among served {}\n",
        ours.embedder, ours.guard, ours.served_of_answerable, ours.wrong_of_served
    ))?;
    let mut table = Table::new(["family", "answerable", "served", "unanswerable", "wrong"]);
    for (family, counts) in &ours.families {
        table.row([
            family.clone(),
            counts.answerable.to_string(),
            counts.hits.to_string(),
            counts.traps.to_string(),
            counts.wrong.to_string(),
        ]);
    }
    output.line(table.to_string())
}

fn save(results: &Results, output: &mut Output) -> Result<(), BoxError> {
    output.save("cache_eval_reference.json", results)?;
    let line = |name: &str, curve: &[Point]| {
        let points = curve.iter().filter_map(|Point { counts, .. }| {
            let wrong = counts.wrong_of_served().value()?;
            Some((
                100.0 * wrong,
                100.0 * counts.served_of_answerable().value()?,
                0.0,
            ))
        });
        Line::new(name, points.collect())
    };
    let mut chart = Chart::new(
        "The reference's set: a point a threshold",
        "wrong of served, %",
        "served of answerable, %",
    );
    for (_, name, ..) in ROWS {
        if let Some(scored) = results.rows.get(name) {
            chart = chart.line(line(name, &scored.curve));
        }
    }
    if let Some(ours) = &results.ours {
        chart = chart.line(line("MiniLM-L6 + our guards", &ours.curve));
    }
    output.save_text("plots/cache_eval_reference.svg", &chart.svg())
}

// === impl Scored ===

impl Scored {
    fn new(outcomes: &[Outcome]) -> Self {
        let point = |threshold| Point {
            threshold,
            counts: Counts::at(threshold, outcomes.iter()),
        };
        let mut thresholds = BTreeMap::new();
        let (mut hits, mut answerable) = (0, 0);
        for (family, outcomes) in by_family(outcomes) {
            answerable += outcomes.iter().filter(|outcome| outcome.answerable).count();
            let outcomes = || outcomes.iter().copied();
            if let Some(threshold) = lowest(NOTHING_WRONG, outcomes()) {
                hits += Counts::at(threshold, outcomes()).hits;
                thresholds.insert(family, threshold);
            }
        }
        Self {
            at_0_96: point(0.96).counts,
            best_with_no_wrong_answers: lowest(NOTHING_WRONG, outcomes.iter()).map(point),
            per_family_thresholds: thresholds,
            per_family_hit_rate_pct: (hits as f64 / answerable as f64 * 1_000.0).round() / 10.0,
            curve: curve(outcomes.iter()),
        }
    }
}
