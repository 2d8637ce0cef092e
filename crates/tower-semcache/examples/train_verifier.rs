//! Trains the verifier on the labelled set of this repository and prints its weights, with what they
//! serve and get wrong on each split:
//!
//! ```text
//! cargo run -p tower-semcache --features guards --example train_verifier \
//!     > crates/tower-semcache/src/guard/verifier/weights.txt
//! ```
//!
//! The set carries the cosine of all-MiniLM-L6-v2 of every pair, so no model is needed. Another set of
//! the same form may be given as argument.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::{env, fs};

use tower_semcache::guard::verifier::{Features, Sample, Verifier, Weights};
use tower_semcache::guard::{Guard, Guards};

const SET: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../llm-eval/data/labelled.jsonl"
);
const RIDGE: f64 = 1.0;

struct Row {
    asked: String,
    cached: String,
    similarity: f32,
    same_answer: bool,
    split: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).unwrap_or_else(|| SET.to_owned());
    let rows = read(&path)?;
    let open = Verifier::english().at_least(0.0)?;
    // Only pairs that no rule forbids ever reach the weights.
    let samples: Vec<Sample> = rows
        .iter()
        .filter(|row| row.split == "dev")
        .filter(|row| open.probability(&row.asked, &row.cached, 0.0).is_some())
        .map(|row| Sample {
            features: Features::read(&row.asked, &row.cached, row.similarity),
            same_answer: row.same_answer,
        })
        .collect();
    let weights = Weights::fit(&samples, RIDGE);
    println!(
        "# Weights of the verifier: logistic regression, ridge {RIDGE}, {} pairs of the",
        samples.len()
    );
    println!(
        "# dev split that no rule forbids. Made by `cargo run -p tower-semcache --features guards"
    );
    println!("# --example train_verifier`; no rule was made with the test split.");
    println!("#");
    println!("# served: of the pairs with one answer; wrong: of the pairs with two.");
    for split in ["dev", "test"] {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.split == split).collect();
        report(split, "rules alone", &rows, |row| {
            Guards::english()
                .accepts(&row.asked, &row.cached)
                .is_accept()
        });
        for least in [0.5, 0.6, 0.7, 0.8, 0.9] {
            let verifier = Verifier::new(Guards::english(), weights);
            report(split, &format!("probability {least}"), &rows, |row| {
                let probability = verifier.probability(&row.asked, &row.cached, row.similarity);
                verifier.accepts(&row.asked, &row.cached).is_accept()
                    || probability.is_some_and(|probability| probability >= least)
            });
        }
    }
    print!("{weights}");
    Ok(())
}

fn read(path: &str) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        let row: serde_json::Value = serde_json::from_str(line)?;
        let text = |name: &str| row.get(name).and_then(|value| value.as_str());
        // Conversations have rules of their own.
        let (Some(asked), Some(cached)) = (text("a"), text("b")) else {
            continue;
        };
        let similarity = row.get("similarity").and_then(|value| value.as_f64());
        let same_answer = row.get("same_answer").and_then(|value| value.as_bool());
        rows.push(Row {
            asked: asked.to_owned(),
            cached: cached.to_owned(),
            similarity: similarity.ok_or("a pair without its similarity")? as f32,
            same_answer: same_answer.ok_or("a pair without its label")?,
            split: text("split").unwrap_or("test").to_owned(),
        });
    }
    Ok(rows)
}

fn report(split: &str, what: &str, rows: &[&Row], accepts: impl Fn(&Row) -> bool) {
    let share = |same_answer: bool| {
        let of: Vec<_> = rows
            .iter()
            .filter(|row| row.same_answer == same_answer)
            .collect();
        let accepted = of.iter().filter(|row| accepts(row)).count();
        format!(
            "{accepted}/{} = {:.1} %",
            of.len(),
            100.0 * accepted as f64 / of.len().max(1) as f64
        )
    };
    println!(
        "# {split}, {what}: served {}, wrong {}",
        share(true),
        share(false)
    );
}
