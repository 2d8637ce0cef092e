//! A process that ends with its guard.

use crate::BoxError;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// How long a process may take until its port accepts.
const START: Duration = Duration::from_secs(10);

/// How long a process may take to stop when asked to.
const STOP: Duration = Duration::from_secs(2);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(1);

/// A child process with a folder of its own. Dropping it stops it (SIGTERM, then SIGKILL) and removes the folder.
#[derive(Debug)]
pub struct Child {
    name: &'static str,
    process: std::process::Child,
    folder: TempDir,
}

impl Child {
    /// Starts `command`, on CPU `cpu` alone where one is given. Its standard error goes to a file in `folder`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(
        name: &'static str,
        command: Command,
        cpu: Option<usize>,
        folder: TempDir,
    ) -> Result<Self, BoxError> {
        let mut command = match cpu {
            // `taskset` replaces itself with the command, so that every thread of it is pinned from its birth.
            Some(cpu) => {
                let mut pinned = Command::new("taskset");
                pinned
                    .arg("--cpu-list")
                    .arg(cpu.to_string())
                    .arg(command.get_program())
                    .args(command.get_args());
                pinned
            }
            None => command,
        };
        // Settings of whoever runs this must not change what is measured.
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("LLM_FRONT_") {
                command.env_remove(variable);
            }
        }
        let log = File::create(folder.path().join("stderr"))?;
        let process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| {
                format!(
                    "{name} cannot be started ({:?}): {error}",
                    command.get_program()
                )
            })?;
        Ok(Self {
            name,
            process,
            folder,
        })
    }

    /// Waits until `address` accepts connections.
    ///
    /// # Errors
    /// The process has ended, or takes longer than 10 s; with what it wrote to standard error.
    pub fn wait_for(&mut self, address: SocketAddr) -> Result<(), BoxError> {
        for _ in 0..START.as_millis() / LOOK.as_millis() {
            if TcpStream::connect(address).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.process.try_wait()? {
                return Err(format!(
                    "{} ended at its start ({status}): {}",
                    self.name,
                    self.said()
                )
                .into());
            }
            sleep(LOOK);
        }
        Err(format!(
            "{} does not accept on {address} after {START:?}: {}",
            self.name,
            self.said()
        )
        .into())
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> Pid {
        pid(self.process.id())
    }

    /// The ids of its children.
    #[must_use]
    pub fn children(&self) -> Vec<Pid> {
        let id = self.process.id();
        let listed =
            std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        listed
            .split_whitespace()
            .filter_map(|child| child.parse().ok())
            .map(Pid::from_raw)
            .collect()
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }

    fn has_ended(&mut self) -> bool {
        // An error here means that there is nobody to wait for.
        !matches!(self.process.try_wait(), Ok(None))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.has_ended() {
            return;
        }
        let children = self.children();
        let _ = kill(self.id(), Signal::SIGTERM);
        for _ in 0..STOP.as_millis() / LOOK.as_millis() {
            if self.has_ended() {
                return;
            }
            sleep(LOOK);
        }
        for child in children {
            let _ = kill(child, Signal::SIGKILL);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).expect("Linux gives no id above 2²²"))
}
