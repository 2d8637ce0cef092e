//! The latency budget: techniques, each with what was expected of it, what was measured, and how.
//!
//! Nothing here is typed in by hand: every measured figure comes out of code that ran in the same command, the product's own
//! wherever there is one.

mod figure;
mod notes;
mod row;
mod show;
mod technique;
mod version;

pub use self::figure::{Figure, Tolerance, round};
pub use self::notes::NOTES;
pub use self::row::{Clock, Curve, Row, State};
pub(crate) use self::show::{digits, quantity};
pub use self::version::Version;

use crate::BoxError;
use llm_bench::report::Machine;
use serde::Serialize;

/// The command that makes it again.
pub const COMMAND: &str = "cargo xtask report --only budget";

/// All techniques.
#[derive(Debug, Serialize)]
pub struct Budget {
    /// The command that makes it again.
    pub command: &'static str,
    /// What it ran on. Only figures that are times of this machine depend on it.
    pub machine: Machine,
    /// What was measured, and what built it.
    pub version: Version,
    /// A row a technique.
    pub rows: Vec<Row>,
    /// Arithmetic that is often done wrong.
    pub notes: &'static [&'static str],
}

impl Budget {
    /// Measures all of them; `progress` hears of each.
    ///
    /// # Errors
    /// An experiment could not be run to its end.
    pub fn measure(mut progress: impl FnMut(&str)) -> Result<Self, BoxError> {
        let mut rows = Vec::new();
        for (id, technique) in technique::ALL {
            progress(id);
            let row = technique().map_err(|error| format!("{id}: {error}"))?;
            rows.push(row);
        }
        Ok(Self {
            command: COMMAND,
            machine: Machine::here(),
            version: Version::here(),
            rows,
            notes: NOTES,
        })
    }

    /// Figures that are not within their tolerance, each with its technique.
    pub fn failed(&self) -> impl Iterator<Item = (&'static str, &Figure)> {
        self.rows.iter().flat_map(|row| {
            let failed = row.figures.iter().filter(|figure| !figure.passed);
            failed.map(|figure| (row.id, figure))
        })
    }
}
