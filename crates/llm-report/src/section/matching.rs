//! What rephrased requests are served, and what is wrong among it.

use super::pictures::picture;
use super::words::capital;
use crate::BoxError;
use crate::budget::digits;
use crate::page::{Block, Section, Table};
use crate::results::{Get, Results};
use serde_json::Value;

const OWN: &str = "cache_eval.json";
const REFERENCE: &str = "cache_eval_reference.json";
const OWN_PLOT: &str = "plots/cache_eval.svg";
const REFERENCE_PLOT: &str = "plots/cache_eval_reference.svg";

pub(super) const PLOTS: [&str; 2] = [OWN_PLOT, REFERENCE_PLOT];

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let Some(own) = results.read(OWN)? else {
        return Ok(None);
    };
    let mut table = Table::new(
        "Pairs of requests",
        [
            "pairs",
            "served of those with the same answer",
            "wrong to those with another",
            "wrong among all served",
        ],
    );
    let threshold = |result: &Value, pointer| {
        let threshold = result.number(pointer);
        threshold.map_or_else(String::new, |threshold| {
            format!(", at {}", digits(threshold))
        })
    };
    let guard = capital(own.text("/guard"));
    table.group(
        "Our own pairs",
        format!("guard {guard}{}", threshold(&own, "/thresholds/general")),
    );
    table.row(halves(&own, "/dev", "the half its threshold is from"));
    table.row(halves(&own, "/test", "the other half"));
    let reference = results.read(REFERENCE)?;
    let ours = reference
        .as_ref()
        .and_then(|reference| reference.pointer("/ours"));
    if let (Some(reference), Some(ours)) = (&reference, ours) {
        table.group(
            "The reference's pairs",
            format!(
                "threshold from {}{}",
                ours.text("/threshold_found_on"),
                threshold(ours, "/threshold")
            ),
        );
        table.row(counted(
            &capital(ours.text("/guard")),
            ours.pointer("/counts"),
        ));
        for row in ["MiniLM-L6", "MiniLM-L6 + literal guard"] {
            table.row(counted(
                &format!("{row}, at 0.96"),
                reference.pointer(&format!("/rows/{row}/at_0_96")),
            ));
        }
    }
    let mut blocks = vec![Block::Table(table)];
    for plot in PLOTS {
        blocks.extend(picture(results, plot)?);
    }
    let glance = ours.map(|ours| {
        let counts = counted("", ours.pointer("/counts"));
        let [_, served, _, wrong] = counts;
        [
            "rephrased requests of the reference's pairs: served / wrong among served".to_owned(),
            format!("{served} / {wrong}"),
        ]
    });
    Ok(Some(Section {
        id: "matching".to_owned(),
        title: "Rephrased requests".to_owned(),
        asked: "How many rephrased requests does a cache answer, and how many of its answers are wrong?".to_owned(),
        how: format!(
            "Labelled pairs, by similarity of {} and a guard with the last word; the threshold is learned on one half and reported on the other. Intervals: {}",
            own.text("/embedder/name"),
            own.text("/intervals")
        ),
        command: own.text("/command").to_owned(),
        file: OWN.to_owned(),
        blocks,
        means: vec![
            "Similarity alone cannot tell a rephrased question from one that differs in a number, a unit or a name: whatever the threshold, many of the nearest are wrong. What the guard reads in the two texts decides.".to_owned(),
        ],
        glance: glance.into_iter().collect(),
        ..Section::default()
    }))
}

/// A row of shares with their intervals.
fn halves(result: &Value, half: &str, name: &str) -> [String; 4] {
    let share = |key: &str| {
        let number = |end: &str| result.number(&format!("{half}/{key}/{end}"));
        let shown = number("part")
            .zip(number("of"))
            .zip(number("low").zip(number("high")));
        shown.map_or_else(
            || "–".to_owned(),
            |((part, of), (low, high))| {
                format!(
                    "{} of {} ({:.0}–{:.0} %)",
                    digits(part),
                    digits(of),
                    low * 100.0,
                    high * 100.0
                )
            },
        )
    };
    [
        name.to_owned(),
        share("served_of_answerable"),
        share("wrong_of_traps"),
        share("wrong_of_served"),
    ]
}

/// A row of counts.
fn counted(name: &str, counts: Option<&Value>) -> [String; 4] {
    let count = |key: &str| counts.and_then(|counts| counts.number(&format!("/{key}")));
    let of = |part: Option<f64>, whole: Option<f64>| {
        part.zip(whole).map_or_else(
            || "–".to_owned(),
            |(part, whole)| format!("{} of {}", digits(part), digits(whole)),
        )
    };
    let served = count("hits")
        .zip(count("wrong"))
        .map(|(hits, wrong)| hits + wrong);
    [
        name.to_owned(),
        of(count("hits"), count("answerable")),
        of(count("wrong_to_traps"), count("traps")),
        of(count("wrong"), served),
    ]
}
