//! Plots of the simulator that stand in files of their own.

use super::matching;
use crate::BoxError;
use crate::page::{Block, Section};
use crate::results::Results;

/// Plots of this report, and those whose figures it draws itself.
const DRAWN_HERE: [&str; 3] = ["plots/report_", "plots/batching_", "plots/front_end_"];

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let mut blocks = Vec::new();
    for path in results.names("plots", "svg") {
        let shown_elsewhere = DRAWN_HERE.iter().any(|own| path.starts_with(own))
            || matching::PLOTS.contains(&path.as_str());
        if !shown_elsewhere {
            blocks.extend(picture(results, &path)?);
        }
    }
    if blocks.is_empty() {
        return Ok(None);
    }
    Ok(Some(Section {
        id: "plots".to_owned(),
        title: "Latency, memory and queues against load, simulated".to_owned(),
        asked: "What happens inside a server as the load rises?".to_owned(),
        how: "vLLM's scheduler, simulated with the cost of an RTX 4090 and Llama 3.1 8B, intervals over seeds".to_owned(),
        command: "cargo xtask sim sweep --preset rtx4090-llama-3.1-8b --plots rtx4090 --loads …".to_owned(),
        file: "plots/".to_owned(),
        blocks,
        ..Section::default()
    }))
}

/// The picture of that file; none if there is no such file.
pub(super) fn picture(results: &Results, path: &str) -> Result<Option<Block>, BoxError> {
    let file = results.file(path);
    if !file.exists() {
        return Ok(None);
    }
    let svg = std::fs::read_to_string(file)?;
    let title = svg
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split_once("</title>"));
    let title = title.map_or_else(|| path.to_owned(), |(title, _)| unescape(title));
    Ok(Some(Block::Picture {
        path: path.to_owned(),
        title,
        svg,
    }))
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
