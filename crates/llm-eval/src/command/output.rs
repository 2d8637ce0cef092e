//! Where results go.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;
use tower::BoxError;

use super::Args;

/// Standard output and the folder of results.
#[derive(Debug)]
pub(super) struct Output {
    json: bool,
    writes: bool,
    folder: PathBuf,
}

// === impl Output ===

impl Output {
    pub(super) fn new(args: &Args) -> Self {
        Self {
            json: args.json,
            writes: !args.json && !args.checks(),
            folder: args.out.clone(),
        }
    }

    /// A line for people.
    pub(super) fn line(&mut self, text: impl AsRef<str>) -> Result<(), BoxError> {
        if !self.json {
            writeln!(io::stdout().lock(), "{}", text.as_ref())?;
        }
        Ok(())
    }

    /// The one line for programs, where it was asked for.
    pub(super) fn value(&mut self, value: &impl Serialize) -> Result<(), BoxError> {
        if self.json {
            writeln!(io::stdout().lock(), "{}", serde_json::to_string(value)?)?;
        }
        Ok(())
    }

    /// Writes a result as JSON. Neither a check nor `--json` writes files.
    pub(super) fn save(&mut self, name: &str, value: &impl Serialize) -> Result<(), BoxError> {
        self.save_text(name, &(serde_json::to_string_pretty(value)? + "\n"))
    }

    /// Writes a file into the folder of results.
    pub(super) fn save_text(&mut self, name: &str, text: &str) -> Result<(), BoxError> {
        if !self.writes {
            return Ok(());
        }
        let path = self.folder.join(name);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        self.line(format!("wrote {}", path.display()))
    }
}
