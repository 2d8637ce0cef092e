//! What the front end costs: CPU time a request, the first byte of a stream, memory.
//!
//! The front end has CPU 0 for itself; the load generator and the upstream share CPU 1, in this process. 32 connections in a
//! closed loop. The CPU time is that of the whole process, in user and kernel mode, all threads. Where nginx is installed it
//! does the same beside it, pinned the same, on the same upstream, and what is held to a mark is the ratio of the two, taken
//! round by round: how fast the machine is cancels out.

mod cpu;
mod first_byte;
mod load;
mod path;
mod summary;

use crate::BoxError;
use crate::cli::Experiment;
use crate::process::{Binary, Nginx, pin_this_process, resident_mib};
use crate::report::{Report, progress};
use crate::upstream::{Pace, Upstream};
use std::time::Duration;

/// The CPU of what is measured.
const THEIRS: usize = 0;

/// The CPU of this process.
const OURS: usize = 1;

/// What a process is given to come to rest after its start.
const SETTLE: Duration = Duration::from_millis(500);

/// Puts this process on a CPU of its own. Before any thread is started.
///
/// # Errors
/// There is only one CPU.
pub fn pin() -> Result<(), BoxError> {
    pin_this_process(OURS)
        .map_err(|error| format!("the overhead test needs two CPUs: {error}").into())
}

/// Measures everything.
///
/// # Errors
/// A server cannot be reached, or does not do on a path what the path is for.
pub async fn run(cli: &Experiment, front: &Binary) -> Result<Report, BoxError> {
    let upstream = Upstream::start(Pace::AT_ONCE)?;
    let front = front.start(["--backend", &upstream.url()], Some(THEIRS))?;
    let nginx = match Nginx::version() {
        Some(_) => Some(Nginx::start(upstream.address(), THEIRS)?),
        None => None,
    };
    tokio::time::sleep(SETTLE).await;
    let idle_mib = resident_mib(front.child.id())?;
    let servers = path::Servers {
        front: &front,
        nginx: nginx.as_ref(),
        upstream: &upstream,
    };
    let paths = cpu::measure(&servers, cli).await?;
    progress("overhead: first bytes of streams");
    let first_byte = first_byte::measure(&servers).await?;
    summary::report(cli, &paths, &first_byte, idle_mib)
}
