//! A document for people: what was asked, how it was measured, what came out, what it means. As HTML and as Markdown.

mod html;
mod markdown;
mod table;

pub use self::html::html;
pub use self::markdown::markdown;
pub use self::table::{Row, Table};

use crate::chart::Drawing;

/// The whole document.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// What it is, a paragraph each.
    pub about: Vec<String>,
    /// The figures that most people come for.
    pub glance: Table,
    /// The experiments.
    pub sections: Vec<Section>,
}

/// One experiment. Text between backticks is code, in all of its texts.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its name in links.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What was asked.
    pub asked: String,
    /// How it was measured.
    pub how: String,
    /// The command that makes it again.
    pub command: String,
    /// The file in `results/` that holds it.
    pub file: String,
    /// What it ran on, where that matters.
    pub machine: Option<String>,
    /// Tables and charts.
    pub blocks: Vec<Block>,
    /// What it means, a sentence or two each.
    pub means: Vec<String>,
    /// Its rows of the first table: what, and the figure.
    pub glance: Vec<[String; 2]>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A table.
    Table(Table),
    /// A chart.
    Chart(Drawing),
    /// A picture that has a file of its own among the results.
    Picture {
        /// Its path below `results/`.
        path: String,
        /// Its title.
        title: String,
        /// The SVG.
        svg: String,
    },
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn page() -> Page {
        let mut table = Table::new("Times", ["way", "p50, ms"]);
        table.group("Front end", "on one core");
        table.row(["hit <exact> | a".to_owned(), "0.07".to_owned()]);
        let drawing = Drawing {
            id: "chart_of_times".to_owned(),
            title: "Times".to_owned(),
            description: "short".to_owned(),
            size: (10.0, 10.0),
            inside: "<g/>".to_owned(),
        };
        Page {
            title: "Results".to_owned(),
            about: vec!["What was measured.".to_owned()],
            glance: table.clone(),
            sections: vec![Section {
                id: "times".to_owned(),
                title: "Times".to_owned(),
                asked: "How long?".to_owned(),
                how: "By a clock.".to_owned(),
                command: "cargo xtask bench".to_owned(),
                file: "times.json".to_owned(),
                blocks: vec![Block::Table(table), Block::Chart(drawing)],
                means: vec!["Short.".to_owned()],
                ..Section::default()
            }],
        }
    }
}
