//! The page as Markdown, its charts as files beside it.

use super::{Block, Page, Row, Section, Table};
use std::fmt::Write;

/// The page as Markdown; charts are linked as `plots/report_NAME.svg`.
#[must_use]
pub fn markdown(page: &Page) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, page);
    out
}

fn write(out: &mut String, page: &Page) -> std::fmt::Result {
    writeln!(out, "# {}\n", page.title)?;
    for paragraph in &page.about {
        writeln!(out, "{paragraph}\n")?;
    }
    table(out, &page.glance)?;
    for section in &page.sections {
        section_of(out, section)?;
    }
    Ok(())
}

fn section_of(out: &mut String, section: &Section) -> std::fmt::Result {
    let Section {
        title,
        asked,
        how,
        command,
        file,
        machine,
        blocks,
        means,
        ..
    } = section;
    writeln!(
        out,
        "## {title}\n\n{asked}\n\n* How: {how}\n* Command: `{command}`\n* File: [`results/{file}`]({file})"
    )?;
    if let Some(machine) = machine {
        writeln!(out, "* Machine: {machine}")?;
    }
    writeln!(out)?;
    for block in blocks {
        match block {
            Block::Table(block) => table(out, block)?,
            Block::Chart(drawing) => {
                let (title, id) = (&drawing.title, &drawing.id);
                writeln!(
                    out,
                    "![{title}](plots/report_{id}.svg)\n\n*{}*\n",
                    drawing.description
                )?;
            }
            Block::Picture { path, title, .. } => writeln!(out, "![{title}]({path})\n")?,
        }
    }
    if !means.is_empty() {
        writeln!(out, "**What it means**\n")?;
        for sentence in means {
            writeln!(out, "* {sentence}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn table(out: &mut String, table: &Table) -> std::fmt::Result {
    writeln!(out, "**{}**\n\n| {} |", table.caption, joined(&table.heads))?;
    let rules = (0..table.heads.len()).map(|column| {
        if table.is_numeric(column) {
            "--:"
        } else {
            "---"
        }
    });
    writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
    for row in &table.rows {
        match row {
            Row::Cells(cells) => writeln!(out, "| {} |", joined(cells))?,
            Row::Group(name, about) => {
                let rest = " |".repeat(table.heads.len().saturating_sub(1));
                let about = if about.is_empty() {
                    String::new()
                } else {
                    format!(": {}", cell(about))
                };
                writeln!(out, "| **{}**{about} |{rest}", cell(name))?;
            }
        }
    }
    writeln!(out)
}

fn joined(cells: &[String]) -> String {
    cells
        .iter()
        .map(|text| cell(text))
        .collect::<Vec<_>>()
        .join(" | ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::page;

    #[test]
    fn tables_keep_their_columns_whatever_their_cells_hold() {
        let text = markdown(&page());
        let rows =
            "| --- | --: |\n| **Front end**: on one core | |\n| hit &lt;exact> \\| a | 0.07 |";
        assert!(text.contains(rows), "{text}");
        assert!(text.contains("![Times](plots/report_chart_of_times.svg)"));
    }
}
