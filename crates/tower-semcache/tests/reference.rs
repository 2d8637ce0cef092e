//! The lexical rows of the reference system, number by number.
//!
//! The data is not part of the repository: `LLM_FRONT_DATA` names its folder, by default
//! `../shared/data` beside the workspace.
#![cfg(all(feature = "hashed", feature = "guards"))]
#![expect(clippy::indexing_slicing, reason = "a test may panic")]

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_semcache::guard::{AcceptAll, Guard, Literal, Verdict};
use tower_semcache::hashed::{HashedEmbedder, Ngrams};
use tower_semcache::{Cache, CacheLayer, Cloned, Control, Lookup, Matching, Secret, Vector};

#[derive(Clone, Debug)]
struct Row {
    family: String,
    prompt: Arc<str>,
    answer: String,
}

#[derive(Clone, Debug)]
struct Ask {
    lookup: Lookup,
    answer: String,
}

/// Hits and wrong answers of a family at a threshold.
type Tally = BTreeMap<String, (usize, usize)>;

#[derive(Clone, Copy, Debug)]
enum Guarded {
    No,
    Literal,
}

impl Guard for Guarded {
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        match self {
            Self::No => AcceptAll.accepts(asked, cached),
            Self::Literal => Literal.accepts(asked, cached),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn unigrams_come_out_as_published() {
    compare("unigrams", Ngrams::Words, Guarded::No).await;
}

#[tokio::test(start_paused = true)]
async fn unigrams_with_the_literal_guard_come_out_as_published() {
    compare("unigrams + literal guard", Ngrams::Words, Guarded::Literal).await;
}

#[tokio::test(start_paused = true)]
async fn unigrams_and_bigrams_come_out_as_published() {
    compare("uni+bigrams", Ngrams::WordsAndPairs, Guarded::No).await;
}

#[tokio::test(start_paused = true)]
async fn unigrams_and_bigrams_with_the_literal_guard_come_out_as_published() {
    compare(
        "uni+bigrams + literal guard",
        Ngrams::WordsAndPairs,
        Guarded::Literal,
    )
    .await;
}

async fn compare(name: &str, ngrams: Ngrams, guard: Guarded) {
    let Some(folder) = data() else { return };
    let cached = rows(&folder, "cache_eval_cached.jsonl");
    let asked = rows(&folder, "cache_eval_queries.jsonl");
    assert_eq!((cached.len(), asked.len()), (37, 267));
    let expected = std::fs::read_to_string(folder.join("expected.json")).expect("readable");
    let expected: Value = serde_json::from_str(&expected).expect("JSON");
    let expected = &expected["lexical"][name];
    let curve = expected["curve"].as_array().expect("a curve");
    assert_eq!(curve.len(), 50);
    let thresholds: Vec<_> = curve
        .iter()
        .map(|point| point[0].as_f64().expect("f64"))
        .collect();
    let tallies = evaluate(&cached, asked, &thresholds, ngrams, guard).await;
    for (point, tally) in curve.iter().zip(&tallies) {
        let (hits, wrong) = total(tally);
        assert_eq!(point[1], hits, "{name}: hits at {}", point[0]);
        assert_eq!(point[2], wrong, "{name}: wrong at {}", point[0]);
    }
    compare_summary(name, expected, &thresholds, &tallies);
}

/// The numbers the reference draws from its curve.
fn compare_summary(name: &str, expected: &Value, thresholds: &[f64], tallies: &[Tally]) {
    let at = thresholds
        .iter()
        .position(|threshold| *threshold == 0.96)
        .expect("0.96 is there");
    let (hits, wrong) = total(&tallies[at]);
    assert_eq!(expected["at_0.96"]["hits"], hits, "{name}");
    assert_eq!(expected["at_0.96"]["wrong"], wrong, "{name}");

    // The lowest threshold with hits and no wrong answer, overall and in each family.
    let safe = |count: &dyn Fn(&Tally) -> (usize, usize)| {
        let mut points = thresholds.iter().zip(tallies);
        points.find_map(|(threshold, tally)| match count(tally) {
            (hits, 0) if hits > 0 => Some((*threshold, hits)),
            _ => None,
        })
    };
    let best = &expected["best_with_no_wrong_answers"];
    match safe(&total) {
        None => assert!(best.is_null(), "{name}: {best}"),
        Some((threshold, hits)) => {
            assert_eq!(best["threshold"], threshold, "{name}");
            assert_eq!(best["hits"], hits, "{name}");
        }
    }
    let mut families = serde_json::Map::new();
    let mut served = 0;
    for family in tallies[0].keys() {
        let count = |tally: &Tally| tally.get(family).copied().unwrap_or_default();
        if let Some((threshold, hits)) = safe(&count) {
            families.insert(family.clone(), threshold.into());
            served += hits;
        }
    }
    assert_eq!(
        expected["per_family_thresholds"],
        Value::Object(families),
        "{name}"
    );
    const ANSWERABLE: f64 = 111.0;
    let rate = (served as f64 / ANSWERABLE * 1_000.0).round() / 10.0;
    assert_eq!(expected["per_family_hit_rate_pct"], rate, "{name}");
}

/// Asks at every threshold, through the layer. What misses at one is not asked at a higher one.
async fn evaluate(
    cached: &[Row],
    mut asked: Vec<Row>,
    thresholds: &[f64],
    ngrams: Ngrams,
    guard: Guarded,
) -> Vec<Tally> {
    let secret = Secret::from_bytes([1; 32]);
    let cache: Cache<String> = Cache::builder().build().expect("defaults are valid");
    let policy = |ask: &Ask| Some(ask.lookup.clone());
    // Each text is embedded once, and looked up 50 times.
    let embedder = HashedEmbedder::new(ngrams);
    let texts = cached.iter().chain(&asked);
    let vectors: HashMap<Arc<str>, Vector> = texts
        .map(|row| (Arc::clone(&row.prompt), embedder.embed(&row.prompt)))
        .collect();
    let vectors = Arc::new(vectors);
    let embedder = service_fn(move |text: Arc<str>| {
        std::future::ready(Ok::<_, Infallible>(vectors[&text].clone()))
    });
    let mut service = CacheLayer::new(cache, policy, Cloned)
        .semantic(embedder, guard)
        .layer(service_fn(|ask: Ask| {
            std::future::ready(Ok::<_, Infallible>(ask.answer))
        }));
    let mut ask = async |row: &Row, threshold: f64, control: Control, answer: String| {
        let canonical = Bytes::copy_from_slice(row.prompt.as_bytes());
        let matching = Matching::threshold(threshold as f32).expect("a valid threshold");
        let lookup = Lookup::new(&secret, secret.scope(&[]), canonical)
            .text(Arc::clone(&row.prompt))
            .matching(matching)
            .control(control);
        let service = service.ready().await.expect("always ready");
        service
            .call(Ask { lookup, answer })
            .await
            .expect("an answer")
    };

    let mut store = Control::default();
    store.lookup = false;
    for row in cached {
        ask(row, 1.0, store, row.answer.clone()).await;
    }
    let mut look = Control::default();
    look.store = false;
    let mut tallies = Vec::new();
    for threshold in thresholds {
        let mut tally: Tally = asked
            .iter()
            .map(|row| (row.family.clone(), (0, 0)))
            .collect();
        let mut served = Vec::new();
        for row in asked {
            let answer = ask(&row, *threshold, look, String::new()).await;
            let (hits, wrong) = tally.entry(row.family.clone()).or_default();
            if answer == row.answer {
                *hits += 1;
            } else if !answer.is_empty() {
                *wrong += 1;
            }
            if !answer.is_empty() {
                served.push(row);
            }
        }
        asked = served;
        tallies.push(tally);
    }
    tallies
}

fn total(tally: &Tally) -> (usize, usize) {
    tally
        .values()
        .fold((0, 0), |(a, b), (hits, wrong)| (a + hits, b + wrong))
}

fn data() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("LLM_FRONT_DATA")
        .map_or_else(beside, PathBuf::from)
        .join("seed");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!(
        "SKIPPED: no data in {} (set LLM_FRONT_DATA)",
        folder.display()
    );
    None
}

fn rows(folder: &std::path::Path, name: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(folder.join(name)).expect("readable");
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let field = |name: &str| row[name].as_str().expect("text").to_owned();
        Row {
            family: field("family"),
            prompt: field("prompt").into(),
            answer: field("answer"),
        }
    };
    text.lines().map(row).collect()
}
