//! The runtime of a test, within bounds: of time, and of what is left behind when somebody stops it.

use crate::BoxError;
use crate::load::Stop;
use crate::report::progress;
use std::pin::pin;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// No experiment takes longer.
const LIMIT: Duration = Duration::from_secs(900);

/// Runs `experiment` on one thread. However it ends, what it had started is stopped: its guards are dropped.
///
/// # Errors
/// Its own; it is stopped by a signal, or not over after 15 minutes.
pub fn bounded<T>(experiment: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
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

/// Runs `test` on one thread. The first Ctrl-C stops sending, and what there is is told; the second ends it at once.
///
/// # Errors
/// Its own; it is stopped by SIGTERM or a second Ctrl-C.
pub fn stoppable<T>(
    stop: &Stop,
    test: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, BoxError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut test = pin!(test);
        loop {
            tokio::select! {
                // Correctness: biased, as above.
                biased;
                _ = tokio::signal::ctrl_c() => {
                    if stop.is_stopped() {
                        return Err("stopped by Ctrl-C".into());
                    }
                    progress("nothing more is sent; Ctrl-C again does not wait for what is under way");
                    stop.stop();
                }
                _ = terminate.recv() => return Err("stopped by SIGTERM".into()),
                done = &mut test => return done,
            }
        }
    })
}
