//! The stub, as a process.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::error::Error;

/// A running `llm-front stub`; dropping it stops it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Process {
    pub(super) fn start(front: Option<&Path>, preset: &str) -> Result<Self, Error> {
        let front = find(front)?;
        // Freed again at once; whoever takes it meanwhile makes the start fail, not the result.
        let address = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let child = Command::new(&front)
            .args(["stub", "--listen", &address.to_string()])
            .args(["--cost-model", preset, "--tokens", "1000000"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|source| Error::with(format!("cannot start {}", front.display()), source))?;
        let mut process = Self { child, address };
        process.wait()?;
        Ok(process)
    }

    /// Waits until it accepts; where it ends instead, it has said why on standard error.
    fn wait(&mut self) -> Result<(), Error> {
        for _ in 0..400 {
            if TcpStream::connect(self.address).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(Error::new(format!("the stub did not start: {status}")));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(Error::new("the stub does not accept connections"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program at `path`, or else the one beside this program.
fn find(path: Option<&Path>) -> Result<PathBuf, Error> {
    let path = match path {
        Some(path) => path.to_owned(),
        None => std::env::current_exe()?.with_file_name("llm-front"),
    };
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::new(format!(
            "no llm-front at {}: `cargo xtask sim against-stub` builds it; or name one with --front",
            path.display()
        ))),
    }
}
