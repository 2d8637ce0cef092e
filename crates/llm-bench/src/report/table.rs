//! Text in columns.

use std::fmt;

/// A table: a title, a row of heads, rows. The first column is text, the others are figures, set to the right.
#[derive(Clone, Debug, Default)]
pub struct Table {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With a title and the heads of its columns.
    #[must_use]
    pub fn new<const N: usize>(title: impl Into<String>, heads: [&str; N]) -> Self {
        Self {
            title: title.into(),
            rows: vec![heads.map(str::to_owned).into()],
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        writeln!(f, "{}", self.title)?;
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::from(" ");
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let cell = if column == 0 {
                    format!(" {cell:<width$}")
                } else {
                    format!("  {cell:>width$}")
                };
                line.push_str(&cell);
            }
            writeln!(f, "{}", line.trim_end())?;
            if number == 0 {
                let rule = widths.iter().map(|width| width + 2).sum::<usize>();
                writeln!(f, "  {}", "─".repeat(rule.saturating_sub(2)))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_the_alphabet() {
        let mut table = Table::new("title", ["path", "µs"]);
        table.row(["a".to_owned(), "12.5".to_owned()]);
        table.row(["größer".to_owned(), "7".to_owned()]);
        assert_eq!(
            table.to_string(),
            "title\n  path      µs\n  ────────────\n  a       12.5\n  größer     7\n"
        );
    }
}
