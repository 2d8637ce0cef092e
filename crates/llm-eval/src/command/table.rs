//! Tables for people.

use std::fmt;

/// A table of text: the first column to the left, the others to the right.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

// === impl Table ===

impl Table {
    pub(super) fn new<const N: usize>(header: [&str; N]) -> Self {
        Self {
            rows: vec![header.map(str::to_owned).to_vec()],
        }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell: &String| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => line += &format!("{cell:<width$}"),
                    _ => line += &format!("  {cell:>width$}"),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
            if number == 0 {
                let rule = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
                writeln!(f, "{}", "-".repeat(rule))?;
            }
        }
        Ok(())
    }
}
