use std::fmt;
use std::sync::Arc;

/// One caller's part in a flight. Dropping it is leaving: when the last one is dropped, the flight is abandoned.
pub struct Lease {
    flight: Arc<dyn Leave>,
}

/// What a lease is held on.
pub(crate) trait Leave: Send + Sync {
    fn leave(&self);
    fn count_lagged(&self);
    #[cfg(feature = "http")]
    fn is_last(&self) -> bool;
}

// === impl Lease ===

impl Lease {
    pub(crate) fn new(flight: Arc<dyn Leave>) -> Self {
        Self { flight }
    }

    /// Counts this caller as one that fell too far behind, in the layer's [`Stats`](crate::Stats).
    pub fn count_lagged(&self) {
        self.flight.count_lagged();
    }

    /// Whether nobody else is in the flight, and nobody else will ever be: what is shared is this caller's alone.
    #[cfg(feature = "http")]
    pub(crate) fn is_last(&self) -> bool {
        self.flight.is_last()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.flight.leave();
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").finish_non_exhaustive()
    }
}
