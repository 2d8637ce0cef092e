//! The document around a chart.

use super::STYLE;
use std::fmt::{self, Write};

/// A drawn chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Its name in links and files: lower-case words joined by `_`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows, for whoever cannot see it.
    pub description: String,
    /// Width and height.
    pub size: (f64, f64),
    /// What is inside the `svg` element.
    pub inside: String,
}

impl Drawing {
    /// For a page that has [`STYLE`] in its style sheet.
    #[must_use]
    pub fn inline(&self) -> String {
        self.document("", "")
    }

    /// For a file of its own.
    #[must_use]
    pub fn file(&self) -> String {
        let style = format!("<style>{}</style>", STYLE.trim_end());
        let back = r#"<rect class="back" width="100%" height="100%"/>"#;
        let mut text = self.document(&style, back);
        text.push('\n');
        text
    }

    fn document(&self, style: &str, back: &str) -> String {
        let Self {
            id,
            title,
            description,
            size: (width, height),
            inside,
        } = self;
        let (title, description) = (escape(title), escape(description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{description}</desc>\
             {style}{back}{inside}</svg>"
        )
    }
}

/// Text as it may stand in HTML and SVG, between tags and in attributes.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Writes the elements of a chart. Writing to a string does not fail.
#[derive(Debug, Default)]
pub(super) struct Canvas(pub(super) String);

impl Canvas {
    pub(super) fn add(&mut self, element: fmt::Arguments<'_>) {
        let _ = self.0.write_fmt(element);
    }

    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.add(format_args!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#,
            escape(text)
        ));
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(format_args!(
            r#"<line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
        ));
    }
}

/// About how wide a text is, in the size of the charts' type.
pub(super) fn width(text: &str) -> f64 {
    7.7 * text.chars().count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_carries_its_colours_and_a_page_does_not() {
        let drawing = Drawing {
            id: "a".to_owned(),
            title: "p95 < 10 s & more".to_owned(),
            description: "rises".to_owned(),
            size: (10.0, 10.0),
            inside: String::new(),
        };
        assert!(drawing.file().contains("prefers-color-scheme:dark"));
        assert!(!drawing.inline().contains("<style>"));
        assert!(drawing.inline().contains("p95 &lt; 10 s &amp; more"));
    }
}
