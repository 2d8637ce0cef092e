//! The folder of the results, and what is in its files.

use crate::BoxError;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A folder with a JSON file a result.
#[derive(Clone, Debug)]
pub struct Results(PathBuf);

impl Results {
    /// The folder at `path`.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path of one of its files.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A result; none if there is no such file.
    ///
    /// # Errors
    /// The file cannot be read, or is not JSON.
    pub fn read(&self, name: &str) -> Result<Option<Value>, BoxError> {
        let file = self.file(name);
        match std::fs::read(&file) {
            Ok(text) => Ok(Some(
                serde_json::from_slice(&text)
                    .map_err(|error| format!("{}: {error}", file.display()))?,
            )),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", file.display()).into()),
        }
    }

    /// The names of its files and, with their folder in front, of those in `folder`, that end in `.extension`, sorted.
    #[must_use]
    pub fn names(&self, folder: &str, extension: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.0.join(folder)) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter(|name| {
                Path::new(name)
                    .extension()
                    .is_some_and(|end| end == extension)
            })
            .map(|name| {
                if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                }
            })
            .collect();
        names.sort();
        names
    }

    /// Writes a result.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, name: &str, value: &impl Serialize) -> Result<(), BoxError> {
        let mut json = serde_json::to_string_pretty(value)?;
        json.push('\n');
        self.write_text(name, &json)
    }

    /// Writes a text.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_text(&self, name: &str, text: &str) -> Result<(), BoxError> {
        let file = self.file(name);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()).into())
    }
}

/// What is asked of a value that may not be there.
pub trait Get {
    /// The number at a JSON pointer.
    fn number(&self, pointer: &str) -> Option<f64>;
    /// The text at a JSON pointer; empty if there is none.
    fn text(&self, pointer: &str) -> &str;
    /// The list at a JSON pointer; empty if there is none.
    fn list(&self, pointer: &str) -> &[Value];
}

impl Get for Value {
    fn number(&self, pointer: &str) -> Option<f64> {
        self.pointer(pointer)?.as_f64()
    }

    fn text(&self, pointer: &str) -> &str {
        self.pointer(pointer)
            .and_then(Self::as_str)
            .unwrap_or_default()
    }

    fn list(&self, pointer: &str) -> &[Value] {
        self.pointer(pointer)
            .and_then(Self::as_array)
            .map_or(&[], Vec::as_slice)
    }
}
