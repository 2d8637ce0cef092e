//! Found values beside expected ones.

use std::fmt::Display;

use tower::BoxError;

use super::output::Output;

/// Counts what was compared, and keeps what differs.
#[derive(Debug, Default)]
pub(super) struct Check {
    compared: usize,
    differ: Vec<String>,
}

// === impl Check ===

impl Check {
    pub(super) fn equal<T: PartialEq + Display>(
        &mut self,
        what: impl Display,
        expected: T,
        found: T,
    ) {
        self.compared += 1;
        if expected != found {
            self.differ
                .push(format!("{what}: {found}, expected {expected}"));
        }
    }

    /// Prints what differs, and fails where something does or nothing was compared.
    pub(super) fn finish(self, output: &mut Output) -> Result<(), BoxError> {
        let Self { compared, differ } = self;
        for line in &differ {
            output.line(line)?;
        }
        output.line(format!(
            "{} of {compared} numbers equal",
            compared - differ.len()
        ))?;
        if differ.is_empty() && compared > 0 {
            return Ok(());
        }
        Err(format!("{} of {compared} numbers differ", differ.len()).into())
    }
}
