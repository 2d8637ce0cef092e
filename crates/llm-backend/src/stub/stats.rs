//! What a stub has done.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;

/// The names whose failures are remembered, for `fail_first`. Beyond it they are forgotten.
const MAX_NAMES: usize = 4096;

/// Larger calls are counted as calls of this size.
const MAX_SIZE: usize = 1024;

/// What a stub has done since it was made or reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Calls that asked for work, refused and failing ones too.
    pub requests: u64,
    /// Prompts that were worked on.
    pub generations: u64,
    /// Calls being worked on now.
    pub in_flight: u64,
    /// Calls that were answered to their end.
    pub completed: u64,
    /// Calls whose caller left.
    pub cancelled: u64,
    /// Calls that were refused, or broken on purpose.
    pub failed: u64,
    /// Calls that were worked on, by the number of their prompts.
    pub batches: BTreeMap<usize, u64>,
}

/// Shared by the clones of a stub.
#[derive(Debug, Default)]
pub(super) struct Counters {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    stats: Stats,
    failures: HashMap<String, u32>,
}

/// One call being worked on. Dropped before its end, its caller left.
#[derive(Debug)]
pub(super) struct Work {
    counters: Arc<Counters>,
    is_over: bool,
}

// === impl Counters ===

impl Counters {
    pub(super) fn stats(&self) -> Stats {
        self.inner.lock().stats.clone()
    }

    /// Forgets everything but the work in flight.
    pub(super) fn reset(&self) {
        let mut inner = self.inner.lock();
        let in_flight = inner.stats.in_flight;
        *inner = Inner {
            stats: Stats {
                in_flight,
                ..Stats::default()
            },
            ..Inner::default()
        };
    }

    pub(super) fn request(&self) {
        self.inner.lock().stats.requests += 1;
    }

    pub(super) fn failed(&self) {
        self.inner.lock().stats.failed += 1;
    }

    /// Whether this is one of the first `count` requests of that name.
    pub(super) fn fails(&self, name: &str, count: u32) -> bool {
        let failures = &mut self.inner.lock().failures;
        if failures.len() >= MAX_NAMES && !failures.contains_key(name) {
            failures.clear();
        }
        let failed = failures.entry(name.to_owned()).or_default();
        let fails = *failed < count;
        *failed = failed.saturating_add(1);
        fails
    }

    pub(super) fn work(self: &Arc<Self>, items: usize) -> Work {
        let stats = &mut self.inner.lock().stats;
        stats.generations += items as u64;
        stats.in_flight += 1;
        *stats.batches.entry(items.min(MAX_SIZE)).or_default() += 1;
        Work {
            counters: self.clone(),
            is_over: false,
        }
    }
}

// === impl Work ===

impl Work {
    pub(super) fn complete(&mut self) {
        self.end(|stats| stats.completed += 1);
    }

    pub(super) fn fail(&mut self) {
        self.end(|stats| stats.failed += 1);
    }

    fn end(&mut self, count: impl FnOnce(&mut Stats)) {
        if !self.is_over {
            self.is_over = true;
            let stats = &mut self.counters.inner.lock().stats;
            stats.in_flight = stats.in_flight.saturating_sub(1);
            count(stats);
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.end(|stats| stats.cancelled += 1);
    }
}
