//! The binary itself, for what only a process shows: signals, exit codes, what it prints.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::Instant;

/// The binary, built if it is not there yet.
///
/// # Panics
/// When it cannot be built.
pub fn path() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        // …/target/debug/deps/this-test
        let this = std::env::current_exe().expect("a path");
        let profile = this.ancestors().nth(2).expect("a target folder");
        let mut build = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
        build.args([
            "build",
            "--quiet",
            "--package",
            "llm-front",
            "--bin",
            "llm-front",
        ]);
        build
            .arg("--target-dir")
            .arg(profile.parent().expect("a target folder"));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(
            build.status().expect("cargo").success(),
            "the binary builds"
        );
        profile.join("llm-front")
    })
}

/// The command, with none of the caller's settings in its environment.
#[must_use]
pub fn command<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(path());
    command.args(args).stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("LLM_FRONT_")) {
        command.env_remove(name);
    }
    command
}

/// Runs it to its end.
///
/// # Panics
/// When it cannot be run.
#[must_use]
pub fn run<'a>(args: impl IntoIterator<Item = &'a str>) -> Output {
    command(args).output().expect("it runs")
}

/// A port of loopback that is free now.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}

/// The running binary; killed when dropped.
#[derive(Debug)]
pub struct Process {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
}

impl Process {
    /// Starts `command` and waits until `address` accepts.
    ///
    /// # Panics
    /// When it never does.
    pub async fn start(mut command: Command, address: SocketAddr) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("it runs");
        let mut process = Self { address, child };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = process.child.try_wait().expect("a child");
            assert!(ended.is_none(), "it ended at start: {}", process.stderr());
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "it never listens"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        process
    }

    /// Starts it on a free port with `args`.
    pub async fn listen<'a>(args: impl IntoIterator<Item = &'a str>) -> Self {
        let address = free_address();
        let mut command = command(args);
        command.arg("--listen").arg(address.to_string());
        Self::start(command, address).await
    }

    /// Sends SIGTERM.
    ///
    /// # Panics
    /// When it cannot be sent.
    pub fn terminate(&self) {
        let pid = self.child.id();
        let sent = Command::new("sh")
            .args(["-c", &format!("kill -TERM {pid}")])
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "SIGTERM is sent");
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end within 20 s.
    pub async fn ended(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "it does not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// What it has written to standard error, once it has ended or was killed.
    pub fn stderr(&mut self) -> String {
        let _ = self.child.kill();
        let mut text = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.read_to_string(&mut text);
        }
        text
    }

    /// What it has written to standard output, once it has ended or was killed.
    pub fn stdout(&mut self) -> String {
        let _ = self.child.kill();
        let mut text = String::new();
        if let Some(stdout) = &mut self.child.stdout {
            let _ = stdout.read_to_string(&mut text);
        }
        text
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
