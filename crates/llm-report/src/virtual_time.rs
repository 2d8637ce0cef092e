//! A clock that stands still until everybody waits, and then jumps to the next moment that somebody waits for.
//!
//! What is measured under it is exact: how long something *waits*. What it costs in instructions does not show.

use crate::BoxError;
use std::time::Duration;

/// Runs `work` on one thread, under a clock that stands still.
///
/// # Errors
/// Those of `work`, and a runtime that cannot be built.
pub fn run<T>(work: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()?
        .block_on(work)
}

/// The clock ticks in whole milliseconds. Models with tenths of them run ten times slower than they are written.
const SLOWER: f64 = 10.0;

/// A model's `ms` milliseconds as time to wait.
#[must_use]
pub fn slowed(ms: f64) -> Duration {
    // To whole ticks first: 7.2 × 10 is not 72.
    Duration::from_millis((ms * SLOWER).round() as u64)
}

/// Time waited as milliseconds of the model.
#[must_use]
pub fn model_ms(waited: Duration) -> f64 {
    waited.as_secs_f64() * 1e3 / SLOWER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_with_tenths_of_a_millisecond_is_waited_for_exactly() {
        let waited = run(async {
            let start = tokio::time::Instant::now();
            for _ in 0..1000 {
                tokio::time::sleep(slowed(7.2)).await;
            }
            Ok(model_ms(start.elapsed()))
        })
        .unwrap();
        assert!((waited - 7200.0).abs() < 1e-9, "{waited}");
    }
}
