//! Tables for people, JSON for programs, checks for CI.

mod check;
mod console;
mod table;

pub use self::check::Check;
pub use self::console::{progress, show};
pub use self::table::Table;

use crate::BoxError;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// What a scenario found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Its name.
    pub scenario: &'static str,
    /// The command that makes it again.
    pub command: String,
    /// What it ran on.
    pub machine: Machine,
    /// What was expected: exact figures and limits.
    pub expected: Value,
    /// What was measured.
    pub measured: Value,
    /// The one held against the other.
    pub checks: Vec<Check>,
    /// The same for people.
    #[serde(skip)]
    pub tables: Vec<Table>,
    /// What a reader has to know to read the figures right.
    pub notes: Vec<String>,
}

/// What a load test ran on.
#[derive(Debug, Serialize)]
pub struct Machine {
    cpus: usize,
    cpu: String,
    /// Runnable tasks over the last minute, when the report was made: above `cpus`, others were at work too.
    load: f64,
}

impl Machine {
    /// This one.
    #[must_use]
    pub fn here() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let (cpuinfo, load) = (read("/proc/cpuinfo"), read("/proc/loadavg"));
        let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
        let cpu = model
            .and_then(|line| line.split_once(": "))
            .map_or("", |(_, name)| name);
        Self {
            cpus: cpuinfo
                .lines()
                .filter(|line| line.starts_with("processor"))
                .count(),
            cpu: cpu.to_owned(),
            load: load
                .split(' ')
                .next()
                .and_then(|first| first.parse().ok())
                .unwrap_or(f64::NAN),
        }
    }
}

impl Report {
    /// The names of the checks that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed)
    }

    /// Prints it.
    pub fn print(&self) {
        for table in &self.tables {
            show(&table.to_string());
        }
        for note in &self.notes {
            show(&format!("note: {note}"));
        }
        if !self.notes.is_empty() {
            show("");
        }
        for check in &self.checks {
            show(&check.to_string());
        }
    }

    /// Writes it as JSON, into a folder that is made if need be.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), BoxError> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        std::fs::write(file, json).map_err(|error| format!("{}: {error}", file.display()).into())
    }
}
