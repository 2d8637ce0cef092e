//! Tables, JSON, progress, and where results go.

use std::{
    fmt, fs,
    io::{self, IsTerminal, Write},
    path::PathBuf,
};

use serde::Serialize;
use serde_json::Value;

use crate::error::Error;

/// Where a command writes.
#[derive(Debug)]
pub(super) struct Output {
    json: bool,
    folder: PathBuf,
}

impl Output {
    pub(super) const fn new(json: bool, folder: PathBuf) -> Self {
        Self { json, folder }
    }

    /// Prints a line of text; nothing where JSON was asked for.
    pub(super) fn line(&mut self, text: &str) -> Result<(), Error> {
        if !self.json {
            writeln!(io::stdout().lock(), "{text}")?;
        }
        Ok(())
    }

    /// Prints JSON where it was asked for.
    pub(super) fn value(&mut self, value: &impl Serialize) -> Result<(), Error> {
        if self.json {
            writeln!(io::stdout().lock(), "{}", pretty(value)?)?;
        }
        Ok(())
    }

    /// Writes a result as JSON.
    pub(super) fn save(&mut self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        self.save_text(name, &(pretty(value)? + "\n"))
    }

    /// Writes a file into the folder of results.
    pub(super) fn save_text(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.folder.join(name);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|source| Error::with(format!("cannot write {}", path.display()), source))?;
        self.line(&format!("wrote {}", path.display()))
    }
}

/// Indented JSON, with whole numbers written whole.
fn pretty(value: &impl Serialize) -> Result<String, Error> {
    let json = |source| Error::with("a result cannot be written as JSON", source);
    let value = whole(serde_json::to_value(value).map_err(json)?);
    serde_json::to_string_pretty(&value).map_err(json)
}

fn whole(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                Value::from(float as i64)
            }
            _ => Value::Number(number),
        },
        Value::Array(values) => values.into_iter().map(whole).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, whole(value)))
            .collect(),
        other => other,
    }
}

/// A counter on standard error, while it is a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    what: &'static str,
    shown: bool,
}

impl Progress {
    pub(super) fn new(what: &'static str) -> Self {
        Self {
            what,
            shown: io::stderr().is_terminal(),
        }
    }

    pub(super) fn at(&mut self, done: usize, of: usize) {
        if self.shown {
            // Nobody misses a counter that cannot be written.
            let _ = write!(io::stderr().lock(), "\r{}: {done} of {of}   ", self.what);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr().lock(), "\r\x1b[2K");
        }
    }
}

/// A table of text: the first column to the left, the others to the right.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            rows: vec![header.into_iter().map(Into::into).collect()],
        }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column == 0 {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("  {cell:>width$}"));
                }
            }
            writeln!(f, "{}", line.trim_end())?;
            if number == 0 {
                let rule: usize = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
                writeln!(f, "{}", "-".repeat(rule))?;
            }
        }
        Ok(())
    }
}

/// A mean and its interval.
pub(super) fn interval(interval: crate::metrics::Interval, digits: usize) -> String {
    format!(
        "{:.digits$} ± {:.digits$}",
        interval.mean, interval.half_width
    )
}
