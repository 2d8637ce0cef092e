//! Plots of the simulator that stand in files of their own.

use crate::BoxError;
use crate::page::{Block, Section};
use crate::results::Results;

/// Plots of this report, and those whose figures it draws itself.
const DRAWN_HERE: [&str; 3] = ["plots/report_", "plots/batching_", "plots/front_end_"];

pub(super) fn section(results: &Results) -> Result<Option<Section>, BoxError> {
    let mut blocks = Vec::new();
    for path in results.names("plots", "svg") {
        if DRAWN_HERE.iter().any(|own| path.starts_with(own)) {
            continue;
        }
        let svg = std::fs::read_to_string(results.file(&path))?;
        let title = svg
            .split_once("<title>")
            .and_then(|(_, rest)| rest.split_once("</title>"));
        let title = title.map_or_else(|| path.clone(), |(title, _)| unescape(title));
        blocks.push(Block::Picture { path, title, svg });
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

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
