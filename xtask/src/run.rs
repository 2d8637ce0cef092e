//! Running cargo and our own programs.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;

/// A command that did not succeed.
#[derive(Debug)]
pub(crate) struct Failed(String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Failed {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or(here.clone(), PathBuf::from)
}

/// The cargo that runs this.
pub(crate) fn cargo() -> Command {
    let mut cargo =
        Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    cargo.current_dir(root());
    cargo
}

/// Runs `command` to its end.
pub(crate) fn check(command: &mut Command) -> Result<(), Failed> {
    let shown = format!("{command:?}").replace('"', "");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failed(format!("{shown}: {status}"))),
        Err(error) => Err(Failed(format!("{shown}: {error}"))),
    }
}

/// A program of ours that does what a verb asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) package: &'static str,
    pub(crate) features: &'static str,
    /// Packages whose binaries it starts. Each is built alone, as a user builds it, with no feature that another asks for.
    pub(crate) starts: &'static [&'static str],
    pub(crate) profile: Profile,
}

/// How programs are built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Profile {
    /// As users build them.
    Release,
    /// In less time, for what does not depend on their speed.
    Quick,
}

impl Profile {
    const fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Quick => "quick",
        }
    }
}

impl Program {
    /// Builds it, and runs it.
    pub(crate) fn run(self, arguments: &[String]) -> Result<(), Failed> {
        let profile = self.profile.name();
        for package in self.starts {
            let its = ["--quiet", "--profile", profile, "--package", package];
            check(cargo().arg("build").args(its))?;
        }
        let own = [
            "--quiet",
            "--profile",
            profile,
            "--package",
            self.package,
            "--features",
            self.features,
        ];
        check(cargo().arg("run").args(own).arg("--").args(arguments))
    }
}
