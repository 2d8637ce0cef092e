//! Tables as text, read by the names of their columns.

use crate::error::Error;

/// A CSV text with a header.
#[derive(Debug)]
pub(super) struct Csv<'a> {
    columns: Vec<&'a str>,
    text: &'a str,
}

/// One row, by the names of the columns.
#[derive(Debug)]
pub(super) struct Row<'c, 'a> {
    columns: &'c [&'a str],
    line: &'a str,
}

impl<'a> Csv<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let header = text.lines().next().unwrap_or_default();
        Self {
            columns: header.split(',').map(str::trim).collect(),
            text,
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_, 'a>> {
        self.text
            .lines()
            .skip(1)
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(|line| Row {
                columns: &self.columns,
                line,
            })
    }
}

impl<'a> Row<'_, 'a> {
    /// The text in a column; `None` where there is no such column.
    pub(super) fn text(&self, column: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|name| *name == column)?;
        self.line.split(',').nth(at).map(str::trim)
    }

    /// The number in a column.
    pub(super) fn number(&self, column: &str) -> Result<f64, Error> {
        self.text(column)
            .and_then(|field| field.parse().ok())
            .ok_or_else(|| Error::new(format!("no number {column:?} in the row {:?}", self.line)))
    }
}
