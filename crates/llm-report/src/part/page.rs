//! The page, from what is kept.

use super::Findings;
use crate::BoxError;
use crate::page::{Block, Page, html, markdown};
use crate::results::Results;
use crate::section;
use llm_bench::report::{progress, show};

const HTML: &str = "report.html";
const MARKDOWN: &str = "report.md";

pub(super) fn make(results: &Results) -> Result<Findings, BoxError> {
    let page = section::page(results)?;
    for (name, text) in files(&page) {
        results.write_text(&name, &text)?;
    }
    progress(&format!("written to {}", results.file(HTML).display()));
    Ok(Findings::new())
}

/// A page that is behind its figures is told of, but is no fault of the figures.
pub(super) fn check(kept: &Results) -> Result<Findings, BoxError> {
    let page = section::page(kept)?;
    let behind = |(name, text): &(String, String)| {
        std::fs::read_to_string(kept.file(name)).ok().as_ref() != Some(text)
    };
    let behind: Vec<String> = files(&page)
        .into_iter()
        .filter(behind)
        .map(|(name, _)| name)
        .collect();
    if !behind.is_empty() {
        show(&format!(
            "behind the figures: {}; cargo xtask report --only page writes them again",
            behind.join(", ")
        ));
    }
    Ok(Findings::new())
}

/// What the page consists of: names below the results, and texts.
fn files(page: &Page) -> Vec<(String, String)> {
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    let charts = blocks.filter_map(|block| match block {
        Block::Chart(drawing) => Some((format!("plots/report_{}.svg", drawing.id), drawing.file())),
        Block::Table(_) | Block::Picture { .. } => None,
    });
    let pages = [
        (HTML.to_owned(), html(page)),
        (MARKDOWN.to_owned(), markdown(page)),
    ];
    pages.into_iter().chain(charts).collect()
}
