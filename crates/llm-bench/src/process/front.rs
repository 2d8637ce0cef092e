//! The front end under test, as the process that people run.

use super::{Child, port};
use crate::BoxError;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The `llm-front` binary.
#[derive(Clone, Debug)]
pub struct Binary(PathBuf);

impl Binary {
    /// The one at `path`, or else the one beside this program.
    ///
    /// # Errors
    /// There is none.
    pub fn find(path: Option<&Path>) -> Result<Self, BoxError> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => std::env::current_exe()?.with_file_name("llm-front"),
        };
        match path.is_file() {
            true => Ok(Self(path)),
            false => Err(format!(
                "no llm-front at {}: run `cargo xtask bench`, which builds it, or name one with --front",
                path.display()
            )
            .into()),
        }
    }

    /// Starts it with `arguments`, on CPU `cpu` alone where one is given, and waits until it accepts.
    ///
    /// # Errors
    /// It does not come up.
    pub fn start<I>(&self, arguments: I, cpu: Option<usize>) -> Result<Front, BoxError>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let address = port::free()?;
        let mut command = Command::new(&self.0);
        command
            .arg("--listen")
            .arg(address.to_string())
            .args(arguments);
        let mut child = Child::start("llm-front", command, cpu, tempfile::tempdir()?)?;
        child.wait_for(address)?;
        Ok(Front { child, address })
    }
}

/// A running front end; dropping it stops it.
#[derive(Debug)]
pub struct Front {
    /// The process.
    pub child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}
