//! Counters of a layer.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Sizes above this share the last bucket, so that the histogram is bounded whatever `max_items`.
const SIZES: usize = 1_024;

/// The counters of a [`BatchLayer`](crate::BatchLayer) and of every service it made.
///
/// Cheap to clone; all clones read the same counters.
#[derive(Clone, Debug)]
pub struct Stats {
    counters: Arc<Counters>,
}

/// The counters at one moment. Each is exact; together they may be a few events apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Batches sent to the inner service.
    pub batches: u64,
    /// Items in these batches.
    pub items: u64,
    /// Batches whose call is running now.
    pub in_flight: u64,
    /// Items that wait for their batch now.
    pub queued: u64,
    /// Items whose caller left before they were sent.
    pub cancelled: u64,
    /// Batches whose call was dropped because nobody waited for it any more.
    pub abandoned: u64,
    /// Batches that failed: by an error of the inner service's readiness or call, or by a panic.
    pub failed: u64,
    /// Items refused as oversized.
    pub refused: u64,
    /// How many batches had which size: entry `i` counts batches of `i + 1` items. There are
    /// `max_items` entries, at most 1,024; larger batches count in the last.
    pub sizes: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Counters {
    batches: AtomicU64,
    items: AtomicU64,
    in_flight: AtomicU64,
    queued: AtomicU64,
    cancelled: AtomicU64,
    abandoned: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
    sizes: Box<[AtomicU64]>,
}

/// A running call; counts it out when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    counters: Arc<Counters>,
}

/// The items that wait in one worker; takes them off the gauge when dropped.
#[derive(Debug)]
pub(crate) struct Queued {
    counters: Arc<Counters>,
    shown: u64,
}

// === impl Stats ===

impl Stats {
    pub(crate) fn new(max_items: usize) -> Self {
        let sizes = (0..max_items.clamp(1, SIZES)).map(|_| AtomicU64::new(0));
        Self {
            counters: Arc::new(Counters {
                batches: AtomicU64::new(0),
                items: AtomicU64::new(0),
                in_flight: AtomicU64::new(0),
                queued: AtomicU64::new(0),
                cancelled: AtomicU64::new(0),
                abandoned: AtomicU64::new(0),
                failed: AtomicU64::new(0),
                refused: AtomicU64::new(0),
                sizes: sizes.collect(),
            }),
        }
    }

    pub(crate) fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    /// Reads all counters.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let Counters {
            batches,
            items,
            in_flight,
            queued,
            cancelled,
            abandoned,
            failed,
            refused,
            sizes,
        } = &*self.counters;
        Snapshot {
            batches: batches.load(Relaxed),
            items: items.load(Relaxed),
            in_flight: in_flight.load(Relaxed),
            queued: queued.load(Relaxed),
            cancelled: cancelled.load(Relaxed),
            abandoned: abandoned.load(Relaxed),
            failed: failed.load(Relaxed),
            refused: refused.load(Relaxed),
            sizes: sizes.iter().map(|count| count.load(Relaxed)).collect(),
        }
    }
}

// === impl Snapshot ===

impl Snapshot {
    /// Items a batch, on average over all batches sent; `None` before the first.
    #[must_use]
    pub fn mean_size(&self) -> Option<f64> {
        (self.batches > 0).then(|| self.items as f64 / self.batches as f64)
    }

    /// How many batches had so many items; 0 for a number that no batch can have. Batches of more than 1,024 count as
    /// batches of 1,024.
    #[must_use]
    pub fn batches_of(&self, items: usize) -> u64 {
        let index = items.checked_sub(1);
        let count = index.and_then(|index| self.sizes.get(index));
        count.copied().unwrap_or(0)
    }
}

// === impl Counters ===

impl Counters {
    pub(crate) fn start(self: &Arc<Self>, items: usize) -> Running {
        self.batches.fetch_add(1, Relaxed);
        self.items.fetch_add(items as u64, Relaxed);
        self.in_flight.fetch_add(1, Relaxed);
        let bucket = items.clamp(1, self.sizes.len()) - 1;
        if let Some(count) = self.sizes.get(bucket) {
            count.fetch_add(1, Relaxed);
        }
        Running {
            counters: Arc::clone(self),
        }
    }

    pub(crate) fn cancelled(&self, items: usize) {
        self.cancelled.fetch_add(items as u64, Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.failed.fetch_add(1, Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }
}

// === impl Running ===

impl Running {
    pub(crate) fn abandoned(&self) {
        self.counters.abandoned.fetch_add(1, Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.counters.failed();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.counters.in_flight.fetch_sub(1, Relaxed);
    }
}

// === impl Queued ===

impl Queued {
    pub(crate) fn new(counters: Arc<Counters>) -> Self {
        Self { counters, shown: 0 }
    }

    pub(crate) fn show(&mut self, items: usize) {
        let items = items as u64;
        // Several workers share the gauge: move it by the difference (modulo 2^64).
        let change = items.wrapping_sub(self.shown);
        self.counters.queued.fetch_add(change, Relaxed);
        self.shown = items;
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.show(0);
    }
}

#[cfg(test)]
mod tests {
    use super::{Queued, SIZES, Stats};

    #[test]
    fn the_histogram_is_bounded_and_large_batches_count_in_its_last_entry() {
        let stats = Stats::new(usize::MAX);
        drop(stats.counters().start(1));
        drop(stats.counters().start(SIZES * 3));
        let sizes = stats.snapshot().sizes;
        assert_eq!(sizes.len(), SIZES);
        assert_eq!((sizes.first(), sizes.last()), (Some(&1), Some(&1)));
    }

    #[test]
    fn two_workers_share_the_queue_gauge() {
        let stats = Stats::new(1);
        let (mut one, mut two) = (Queued::new(stats.counters()), Queued::new(stats.counters()));
        one.show(5);
        two.show(3);
        one.show(1);
        assert_eq!(stats.snapshot().queued, 4);
        drop(one);
        assert_eq!(stats.snapshot().queued, 3);
        drop(two);
        assert_eq!(stats.snapshot().queued, 0);
    }
}
