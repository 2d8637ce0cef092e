//! How long a batch waits for company.

use std::time::Duration;

use tokio::time::Instant;

/// How long a batch that is not full waits for more items.
///
/// Either window is measured from the arrival (`call`) of the oldest item that still waits. It is
/// cut short when the batch is full (`max_items` or `max_cost`), when the queue is full, since
/// then nobody could join, and when the last handle is dropped. It does not count the wait for a
/// free place among `max_in_flight` or for the inner service to become ready: meanwhile the batch
/// goes on taking items.
///
/// The clock is tokio's: it ticks in milliseconds, and a window ends at the first tick that is
/// not before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Window {
    /// Always wait this long. Zero takes only what is there at once.
    Fixed(Duration),
    /// Do not wait at all while no batch is running. While at least one is, wait until the last
    /// of them ends, and this long at most. A lone item under light load pays no latency; under
    /// heavy load batches fill as under `Fixed`.
    WhileBusy(Duration),
}

// === impl Window ===

impl Window {
    /// When a batch must go whose oldest item came at `arrived`; `None`: not before it is full.
    pub(crate) fn deadline(self, arrived: Instant) -> Option<Instant> {
        let (Self::Fixed(wait) | Self::WhileBusy(wait)) = self;
        arrived.checked_add(wait)
    }

    /// Whether a batch of any size may go, given that none is running.
    pub(crate) fn opens_when_idle(self) -> bool {
        matches!(self, Self::WhileBusy(_))
    }
}
