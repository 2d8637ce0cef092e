//! What all load tests have in common: a machine, checks, notes.

use super::words::{capital, sentence};
use crate::BoxError;
use crate::page::{Block, Section, Table};
use crate::results::{Get, Results};
use serde_json::Value;

/// Load tests with a section of their own.
const KNOWN: [&str; 4] = ["reference", "herd", "followers", "overhead"];

/// A section of the load test in `file`, without its blocks; with the result itself.
pub(super) fn section(
    results: &Results,
    file: &str,
    (id, title): (&str, &str),
    asked: &str,
    how: &str,
) -> Result<Option<(Section, Value)>, BoxError> {
    let Some(result) = results.read(file)? else {
        return Ok(None);
    };
    let section = Section {
        id: id.to_owned(),
        title: title.to_owned(),
        asked: asked.to_owned(),
        how: how.to_owned(),
        command: result.text("/command").to_owned(),
        file: file.to_owned(),
        machine: machine(&result),
        ..Section::default()
    };
    Ok(Some((section, result)))
}

/// What it was held to, and what came out.
pub(super) fn checks(result: &Value) -> Block {
    let mut table = Table::new(
        "What it is held to",
        ["figure", "expected", "measured", "met"],
    );
    for check in result.list("/checks") {
        let met = check.pointer("/passed").and_then(Value::as_bool);
        table.row([
            check.text("/figure").to_owned(),
            check.text("/expected").to_owned(),
            check.text("/measured").to_owned(),
            if met == Some(true) { "yes" } else { "no" }.to_owned(),
        ]);
    }
    Block::Table(table)
}

/// What a reader has to know, and what was missed.
pub(super) fn notes(result: &Value) -> Vec<String> {
    let notes = result.list("/notes").iter().filter_map(Value::as_str);
    notes.map(sentence).collect()
}

/// The machine in words.
pub(super) fn machine(result: &Value) -> Option<String> {
    let cpus = result.number("/machine/cpus")?;
    let load = result.number("/machine/load").unwrap_or(f64::NAN);
    Some(format!(
        "{cpus} CPUs, {}; load {load} when it ended",
        result.text("/machine/cpu")
    ))
}

/// Load tests that have no section of their own: what they are held to says it all.
pub(super) fn others(results: &Results) -> Result<Vec<Section>, BoxError> {
    let mut sections = Vec::new();
    for file in results.names("", "json") {
        let scenario = results
            .read(&file)?
            .map(|result| result.text("/scenario").to_owned())
            .unwrap_or_default();
        if scenario.is_empty() || KNOWN.contains(&scenario.as_str()) {
            continue;
        }
        let title = capital(&format!("load test: {scenario}"));
        let asked =
            format!("The load test `{scenario}`; `cargo xtask bench --help` says what it does.");
        if let Some((mut section, result)) = section(
            results,
            &file,
            (&scenario, &title),
            &asked,
            "over sockets on loopback",
        )? {
            section.blocks.push(checks(&result));
            section.means = notes(&result);
            sections.push(section);
        }
    }
    Ok(sections)
}
