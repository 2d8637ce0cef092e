//! The experiments as sections of the page, one a file. Each is made of what its JSON file holds, and of nothing else.

mod batching;
mod bench;
mod budget;
mod budget_charts;
mod followers;
mod front_end;
mod herd;
mod load_test;
mod matching;
mod overhead;
mod pictures;
mod stream;
mod stub;
mod validation;
mod words;

use crate::BoxError;
use crate::page::{Page, Section, Table};
use crate::results::Results;

type Make = fn(&Results) -> Result<Option<Section>, BoxError>;

/// In the order of the page.
const ALL: [Make; 12] = [
    load_test::section,
    herd::section,
    followers::section,
    overhead::section,
    matching::section,
    stream::section,
    budget::section,
    batching::section,
    front_end::section,
    validation::section,
    stub::section,
    pictures::section,
];

/// The page of everything that is there.
///
/// # Errors
/// A result cannot be read.
pub fn page(results: &Results) -> Result<Page, BoxError> {
    let mut sections = Vec::new();
    for make in ALL {
        sections.extend(make(results)?);
    }
    sections.extend(bench::others(results)?);
    let mut glance = Table::new("At a glance", ["what", "figure"]);
    for section in &sections {
        for row in &section.glance {
            glance.row(row.clone());
        }
    }
    Ok(Page {
        title: "llm-front: results".to_owned(),
        about: vec![
            "A serving front end for LLMs: response cache, single flight, batching, in front of any OpenAI-compatible server. Each \
             section says what was asked, how it was measured, what came out and what it means, and names the command that makes it again."
                .to_owned(),
            "Figures under virtual time, simulated or drawn from laws are the same on every machine, and are made again in CI. Times over \
             sockets depend on the machine, which is named with them: read them as ratios."
                .to_owned(),
        ],
        glance,
        sections,
    })
}
