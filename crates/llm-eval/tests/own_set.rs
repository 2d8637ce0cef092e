//! The project's own labelled set, beside the sets on which guards are reported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Words that a text can be given or lose without becoming another: not compared.
const IDLE: &str = "a an the is are was were be do does did i you my your me to of in on at for with from by and or it \
                    this that what how which who can could would please tell hi hello";

/// Where texts go: the examples of the guards' own tests.
const ROUTES: &str = include_str!("../../tower-semcache/src/guard/route/examples.txt");

/// The share of words in common from which two texts are nearly the same.
const NEARLY: f64 = 0.8;

#[test]
fn no_prompt_is_one_of_the_reference_or_of_fow_cache_or_nearly_one() {
    let Some(data) = data() else { return };
    let mut others: Vec<String> = Vec::new();
    for file in ["cached", "queries"] {
        let file = data.join(format!("seed/cache_eval_{file}.jsonl"));
        others.extend(texts(&file, &["prompt"]));
    }
    others.extend(texts(&data.join("fow-cache/pairs_dev.jsonl"), &["a", "b"]));
    assert!(others.len() > 600, "{} prompts", others.len());
    let others: BTreeSet<BTreeSet<String>> = others.iter().map(|text| words(text)).collect();

    let own = rows(llm_eval::LABELLED);
    let routes = ROUTES.lines().filter(|line| !line.starts_with(['#', '[']));
    let own: BTreeSet<&str> = own
        .iter()
        .flat_map(|row| ["a", "b"].map(|key| row.get(key).and_then(Value::as_str)))
        .flatten()
        .chain(routes)
        .collect();
    let shared: Vec<_> = own
        .into_iter()
        .filter(|text| {
            let words = words(text);
            // Of one word ("thanks") there are only so many.
            words.len() > 1 && others.iter().any(|other| nearly(&words, other))
        })
        .collect();
    assert!(shared.is_empty(), "{shared:#?}");
}

#[test]
fn every_topic_is_in_one_split() {
    let mut splits: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows(llm_eval::LABELLED) {
        let field = |key| {
            row.get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        assert_ne!(field("topic"), "");
        splits
            .entry(field("topic"))
            .or_default()
            .insert(field("split"));
    }
    let both: Vec<_> = splits
        .iter()
        .filter(|(_, splits)| splits.len() > 1)
        .collect();
    assert!(both.is_empty(), "{both:?}");
}

fn nearly(one: &BTreeSet<String>, two: &BTreeSet<String>) -> bool {
    let both = one.intersection(two).count();
    let all = one.len() + two.len() - both;
    both as f64 >= NEARLY * all as f64
}

fn words(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: BTreeSet<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let idle: BTreeSet<&str> = IDLE.split(' ').collect();
    let matter: BTreeSet<String> = words
        .iter()
        .filter(|word| !idle.contains(word.as_str()))
        .cloned()
        .collect();
    if matter.is_empty() { words } else { matter }
}

fn rows(lines: &str) -> Vec<Value> {
    let lines = lines.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn texts(file: &Path, keys: &[&str]) -> Vec<String> {
    let lines = std::fs::read_to_string(file).expect("a file of the public data");
    let rows = rows(&lines);
    let texts = rows
        .iter()
        .flat_map(|row| keys.iter().map(|key| row.get(*key)?.as_str()));
    texts.flatten().map(str::to_owned).collect()
}

fn data() -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("LLM_FRONT_DATA").map_or_else(|| default.into(), PathBuf::from);
    if folder.join("seed").is_dir() {
        return Some(folder);
    }
    eprintln!(
        "SKIPPED: no public data in {} (set LLM_FRONT_DATA)",
        folder.display()
    );
    None
}
