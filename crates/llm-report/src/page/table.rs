//! A table with a caption.

/// A table with a caption.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// What each column holds.
    pub heads: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// A heading over the rows that follow, and a word about it.
    Group(String, String),
    /// A cell a column; the first names the row.
    Cells(Vec<String>),
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new<const N: usize>(caption: impl Into<String>, heads: [&str; N]) -> Self {
        Self {
            caption: caption.into(),
            heads: heads.map(str::to_owned).into(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(Row::Cells(cells.into()));
    }

    /// Adds a heading over the rows that follow.
    pub fn group(&mut self, name: impl Into<String>, about: impl Into<String>) {
        self.rows.push(Row::Group(name.into(), about.into()));
    }

    /// Whether a column holds figures, to be set to the right: all its cells are short, and begin with a digit or a sign.
    #[must_use]
    pub fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| match row {
            Row::Group(..) => None,
            Row::Cells(cells) => cells.get(column),
        });
        let figure = |cell: &String| {
            let first = cell.chars().next();
            let signed =
                first.is_none_or(|first| first.is_ascii_digit() || "–−-+±≤≥".contains(first));
            signed && cell.chars().count() <= 16
        };
        column > 0 && cells.all(figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_figures_are_told_from_columns_of_words() {
        let mut table = Table::new("Times", ["way", "ms", "met"]);
        table.group("All", "");
        table.row(["1".to_owned(), "≤ 0.07".to_owned(), "yes".to_owned()]);
        table.row(["2".to_owned(), "–".to_owned(), "no".to_owned()]);
        assert_eq!(
            [0, 1, 2].map(|column| table.is_numeric(column)),
            [false, true, false]
        );
    }
}
