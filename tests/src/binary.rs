//! The binary itself, for what only a process shows: signals, exit codes, what it prints.

use parking_lot::Mutex;
use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
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
    log: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts `command` and waits until `address` accepts.
    ///
    /// # Panics
    /// When it never does.
    pub async fn start(command: Command, address: SocketAddr) -> Self {
        let mut process = Self::spawn(command, address);
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

    fn spawn(mut command: Command, address: SocketAddr) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let log = Arc::new(Mutex::new(Vec::new()));
        let (mut stderr, lines) = (child.stderr.take().expect("a pipe"), log.clone());
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut piece) {
                lines.lock().extend_from_slice(&piece[..count]);
            }
        });
        Self {
            address,
            child,
            log,
            reader: Some(reader),
        }
    }

    /// Starts it on a port of its own choice with `args`, and waits until its log names the address.
    ///
    /// # Panics
    /// When it never does.
    pub async fn listen_anywhere<'a>(args: impl IntoIterator<Item = &'a str>) -> Self {
        let mut command = command(args);
        command.args(["--listen", "127.0.0.1:0"]);
        let mut process = Self::spawn(command, SocketAddr::from(([127, 0, 0, 1], 0)));
        let log = process.logs("on http://").await;
        let (_, address) = log.split_once("on http://").expect("it was waited for");
        let end = address.find(|c: char| c != '.' && c != ':' && !c.is_ascii_digit());
        let address = &address[..end.unwrap_or(address.len())];
        process.address = address.parse().expect("an address");
        process
    }

    /// Waits until it has logged a whole line with `words` in it, and gives back all that it has logged.
    ///
    /// # Panics
    /// When it does not within 20 s.
    pub async fn logs(&self, words: &str) -> String {
        let began = Instant::now();
        loop {
            let log = self.log();
            if log
                .split_inclusive('\n')
                .any(|line| line.contains(words) && line.ends_with('\n'))
            {
                return log;
            }
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "no `{words}` in: {log}"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// What it has written to standard error so far.
    #[must_use]
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&self.log.lock()).into_owned()
    }

    /// The memory that it holds, in bytes.
    ///
    /// # Panics
    /// When the system does not say.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn resident(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.trim().parse::<u64>().ok())
            .map(|kib| kib * 1024)
            .expect("a size")
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
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        self.log()
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
