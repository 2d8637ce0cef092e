//! Why a whole batch failed, and the one place that catches panics of caller's code.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tower::BoxError;

use crate::error::{Failed, Panicked};

/// What every unanswered item of a batch is told; each gets its own box around a shared cause.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    Failed(Failed),
    Panicked(Panicked),
}

/// Runs caller's code; a panic becomes a value.
///
/// Correctness (unwind safety): whatever `work` may leave half done is either thrown away by us
/// after a panic (the batch's own clone of the service, its future) or only read by `work` (the
/// cost and grouping functions).
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Panicked::new(&*payload))
}

// === impl Failure ===

impl Failure {
    pub(crate) fn boxed(&self) -> BoxError {
        match self {
            Self::Failed(error) => Box::new(error.clone()),
            Self::Panicked(error) => Box::new(error.clone()),
        }
    }
}

impl From<BoxError> for Failure {
    fn from(source: BoxError) -> Self {
        Self::Failed(Failed::new(source))
    }
}

impl From<Panicked> for Failure {
    fn from(panicked: Panicked) -> Self {
        Self::Panicked(panicked)
    }
}
