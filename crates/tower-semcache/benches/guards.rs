//! How long a guard takes to compare two texts: the pairs of `crates/llm-eval/data/labelled.jsonl`, the
//! fastest of several rounds, one thread.
//!
//! ```sh
//! cargo bench -p tower-semcache --features guards --bench guards
//! ```
//!
//! Without `--bench` (as `cargo test --all-targets` runs it) it does one round, to see that it works.
#![expect(clippy::print_stdout, reason = "a program that measures and prints")]

use std::error::Error;
use std::hint::black_box;

use tokio::time::Instant;
use tower_semcache::guard::verifier::Verifier;
use tower_semcache::guard::{Guard, Guards, Literal, Route};

const SET: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../llm-eval/data/labelled.jsonl"
);
const ROUNDS: usize = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = if std::env::args().any(|arg| arg == "--bench") {
        ROUNDS
    } else {
        1
    };
    let pairs = pairs()?;
    let words: usize = pairs
        .iter()
        .map(|(a, b)| a.split(' ').count() + b.split(' ').count())
        .sum();
    println!(
        "{} pairs, {:.1} words a text, each said twice",
        pairs.len(),
        words as f64 / (2 * pairs.len()) as f64
    );
    let (guards, verifier) = (Guards::english(), Verifier::english());
    // Twice as long: what the documentation says is of texts of about 15 words.
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(a, b)| (format!("{a} {a}"), format!("{b} {b}")))
        .collect();
    report("Literal", &pairs, rounds, |a, b| {
        Literal.accepts(a, b).is_accept()
    });
    report("Guards::english", &pairs, rounds, |a, b| {
        guards.accepts(a, b).is_accept()
    });
    report("Verifier::english", &pairs, rounds, |a, b| {
        verifier.probability(a, b, 0.8).is_some()
    });
    report("Route::of, one text", &pairs, rounds, |a, _| {
        Route::of(a) == Route::Semantic
    });
    Ok(())
}

fn pairs() -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut pairs = Vec::new();
    for line in std::fs::read_to_string(SET)?.lines() {
        let row: serde_json::Value = serde_json::from_str(line)?;
        let text = |name: &str| {
            row.get(name)
                .and_then(|text| text.as_str())
                .map(str::to_owned)
        };
        pairs.extend(text("a").zip(text("b")));
    }
    Ok(pairs)
}

fn report(
    name: &str,
    pairs: &[(String, String)],
    rounds: usize,
    accepts: impl Fn(&str, &str) -> bool,
) {
    let mut best = f64::INFINITY;
    let mut accepted = 0;
    for _ in 0..rounds {
        let start = Instant::now();
        accepted = pairs
            .iter()
            .filter(|(a, b)| black_box(accepts(a, b)))
            .count();
        best = best.min(start.elapsed().as_secs_f64());
    }
    let micros = 1e6 * best / pairs.len() as f64;
    println!("{name:20} {micros:6.2} us a pair, {accepted} accepted");
}
