//! What made the figures.

use serde::Serialize;
use std::process::Command;

/// The version of what was measured, and of what built it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Version {
    /// Of the crates.
    pub llm_front: &'static str,
    /// The compiler, as it names itself; empty where there is none.
    pub rustc: String,
}

impl Version {
    /// This one.
    #[must_use]
    pub fn here() -> Self {
        let asked = Command::new("rustc").arg("--version").output();
        let rustc = asked.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
        Self {
            llm_front: env!("CARGO_PKG_VERSION"),
            rustc: rustc.unwrap_or_default(),
        }
    }
}
