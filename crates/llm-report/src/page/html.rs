//! The page as one HTML file: no script, no other file, light and dark, fit for print.

use super::{Block, Page, Row, Section, Table};
use crate::chart::{STYLE, escape};
use std::fmt::Write;

const PAGE: &str = include_str!("style.css");

/// The page as HTML.
#[must_use]
pub fn html(page: &Page) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, page);
    out
}

fn write(out: &mut String, page: &Page) -> std::fmt::Result {
    let title = escape(&page.title);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{PAGE}{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title}</h1>\n"
    )?;
    for paragraph in &page.about {
        writeln!(out, "<p>{}</p>", marked(paragraph))?;
    }
    out.write_str("</header>\n<nav aria-label=\"Contents\">\n<ol>\n")?;
    for section in &page.sections {
        writeln!(
            out,
            "<li><a href=\"#{}\">{}</a></li>",
            section.id,
            escape(&section.title)
        )?;
    }
    out.write_str("</ol>\n</nav>\n<main>\n")?;
    table(out, &page.glance)?;
    for section in &page.sections {
        section_of(out, section)?;
    }
    out.write_str("</main>\n</body>\n</html>\n")
}

fn section_of(out: &mut String, section: &Section) -> std::fmt::Result {
    let Section {
        id,
        title,
        asked,
        how,
        command,
        file,
        machine,
        blocks,
        means,
        glance: _,
    } = section;
    let title = escape(title);
    write!(
        out,
        "<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{title}</h2>\n<p class=\"asked\">{}</p>\n<dl>\n",
        marked(asked)
    )?;
    writeln!(out, "<dt>How</dt><dd>{}</dd>", marked(how))?;
    writeln!(
        out,
        "<dt>Command</dt><dd><code>{}</code></dd>",
        escape(command)
    )?;
    writeln!(out, "<dt>File</dt><dd><code>results/{file}</code></dd>")?;
    if let Some(machine) = machine {
        writeln!(out, "<dt>Machine</dt><dd>{}</dd>", escape(machine))?;
    }
    out.write_str("</dl>\n")?;
    for block in blocks {
        match block {
            Block::Table(block) => table(out, block)?,
            Block::Chart(drawing) => figure(out, &drawing.inline(), &drawing.description)?,
            Block::Picture { title, svg, .. } => {
                let picture = format!("<img alt=\"{}\" src=\"{}\">", escape(title), data_url(svg));
                figure(out, &picture, title)?;
            }
        }
    }
    if !means.is_empty() {
        out.write_str("<h3>What it means</h3>\n<ul>\n")?;
        for sentence in means {
            writeln!(out, "<li>{}</li>", marked(sentence))?;
        }
        out.write_str("</ul>\n")?;
    }
    out.write_str("</section>\n")
}

fn figure(out: &mut String, picture: &str, caption: &str) -> std::fmt::Result {
    writeln!(
        out,
        "<figure>\n{picture}\n<figcaption>{}</figcaption>\n</figure>",
        marked(caption)
    )
}

fn table(out: &mut String, table: &Table) -> std::fmt::Result {
    let caption = escape(&table.caption);
    // Whoever uses the keyboard can scroll a wide table.
    write!(
        out,
        "<div class=\"wide\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n<table>\n<caption>{caption}</caption>\n<thead><tr>"
    )?;
    let figures = |column: usize| {
        if table.is_numeric(column) {
            " class=\"n\""
        } else {
            ""
        }
    };
    for (column, head) in table.heads.iter().enumerate() {
        write!(
            out,
            "<th scope=\"col\"{}>{}</th>",
            figures(column),
            escape(head)
        )?;
    }
    out.write_str("</tr></thead>\n<tbody>\n")?;
    for row in &table.rows {
        match row {
            Row::Group(name, about) => {
                let columns = table.heads.len();
                write!(
                    out,
                    "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{columns}\">{}",
                    escape(name)
                )?;
                if !about.is_empty() {
                    write!(out, "<span>{}</span>", marked(about))?;
                }
                writeln!(out, "</th></tr>")?;
            }
            Row::Cells(cells) => {
                out.write_str("<tr>")?;
                for (column, cell) in cells.iter().enumerate() {
                    match column {
                        0 => write!(out, "<th scope=\"row\">{}</th>", marked(cell))?,
                        _ => write!(out, "<td{}>{}</td>", figures(column), marked(cell))?,
                    }
                }
                out.write_str("</tr>\n")?;
            }
        }
    }
    out.write_str("</tbody>\n</table>\n</div>\n")
}

/// Escapes, then sets what stands between backticks as code.
fn marked(text: &str) -> String {
    let mut out = String::new();
    for (number, part) in escape(text).split('`').enumerate() {
        if number % 2 == 0 {
            out.push_str(part);
        } else {
            let _ = write!(out, "<code>{part}</code>");
        }
    }
    out
}

fn data_url(svg: &str) -> String {
    let mut url = "data:image/svg+xml,".to_owned();
    for c in svg.trim().chars() {
        if "%#\"<>&{}\n\r".contains(c) {
            let _ = write!(url, "%{:02X}", c as u32);
        } else {
            url.push(c);
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::page;

    #[test]
    fn a_page_is_one_file_with_heads_captions_and_escaped_words() {
        let html = html(&page());
        assert!(html.contains("<caption>Times</caption>"));
        assert!(html.contains("<th scope=\"col\" class=\"n\">p50, ms</th>"));
        assert!(
            html.contains("hit &lt;exact&gt;") && html.contains("<figcaption>short</figcaption>")
        );
        assert!(!html.contains("<script") && !html.contains("src=\"http"));
    }

    #[test]
    fn a_picture_is_part_of_the_file() {
        assert_eq!(
            data_url("<svg a=\"#b\"/>\n"),
            "data:image/svg+xml,%3Csvg a=%22%23b%22/%3E"
        );
    }
}
