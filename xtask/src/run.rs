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
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
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

/// Builds `package` (and what it starts, `others`) for release and runs it with `arguments`.
pub(crate) fn program(package: &str, others: &[&str], arguments: &[String]) -> Result<(), Failed> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--release"]);
    for name in [package].iter().chain(others) {
        build.args(["--package", name]);
    }
    check(&mut build)?;
    check(cargo().args(["run", "--quiet", "--release", "--package", package, "--"]).args(arguments))
}
