//! Runs an experiment within bounds: of time, and of what is left behind when somebody stops it.

use super::{followers, herd, overhead, reference};
use crate::BoxError;
use crate::cli::{Cli, Name};
use crate::process::Binary;
use crate::report::Report;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// No experiment takes longer.
const LIMIT: Duration = Duration::from_secs(900);

/// Runs what `cli` asks for.
///
/// # Errors
/// It could not be run to its end.
pub fn run(cli: &Cli) -> Result<Report, BoxError> {
    match cli.scenario {
        Name::Reference => {
            let in_process = reference::in_process::runs(cli.runs())?;
            let sockets =
                bounded(async { reference::sockets::runs(&front(cli)?, cli.runs()).await })?;
            reference::report(cli, &in_process, &sockets)
        }
        Name::Overhead => {
            overhead::pin()?;
            bounded(async { overhead::run(cli, &front(cli)?).await })
        }
        Name::Herd => bounded(async { herd::run(cli, &front(cli)?).await }),
        Name::Followers => bounded(async { followers::run(cli, &front(cli)?).await }),
    }
}

fn front(cli: &Cli) -> Result<Binary, BoxError> {
    Binary::find(cli.front.as_deref())
}

/// Runs `experiment` on one thread. However it ends, what it had started is stopped: its guards are dropped.
fn bounded<T>(experiment: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    // One thread: the other CPU is for the front end.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            // Correctness: biased, so that a load test that never yields for long still sees that it must stop.
            biased;
            _ = tokio::signal::ctrl_c() => Err("stopped by Ctrl-C".into()),
            _ = terminate.recv() => Err("stopped by SIGTERM".into()),
            done = tokio::time::timeout(LIMIT, experiment) => {
                done.map_err(|_| format!("not over after {LIMIT:?}"))?
            }
        }
    })
}
