use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of all services that one layer made. Clones show the same numbers.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    counters: Arc<Counters>,
}

/// What [`Stats`] showed at one moment. All are totals since the layer was made, but for `flights_open`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Flights in the air now.
    pub flights_open: u64,
    /// Requests that started a call.
    pub leaders: u64,
    /// Requests that joined one.
    pub followers: u64,
    /// Requests that the policy gave no key.
    pub bypassed: u64,
    /// Requests refused because there were too many flights.
    pub overloaded: u64,
    /// Flights that were dropped because everybody had left.
    pub abandoned: u64,
    /// Followers that found a flight they could no longer join, and went on to another.
    pub refused: u64,
    /// Readers that fell too far behind.
    pub lagged: u64,
    /// Flights that panicked.
    pub panicked: u64,
    /// Flights that reached their age limit.
    pub too_old: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) flights_open: Counter,
    pub(crate) leaders: Counter,
    pub(crate) followers: Counter,
    pub(crate) bypassed: Counter,
    pub(crate) overloaded: Counter,
    pub(crate) abandoned: Counter,
    pub(crate) refused: Counter,
    pub(crate) lagged: Counter,
    pub(crate) panicked: Counter,
    pub(crate) too_old: Counter,
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

// === impl Stats ===

impl Stats {
    /// The numbers of this moment. They are read one by one, so sums over them may be off by what happens meanwhile.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let Counters {
            flights_open,
            leaders,
            followers,
            bypassed,
            overloaded,
            abandoned,
            refused,
            lagged,
            panicked,
            too_old,
        } = &*self.counters;
        Snapshot {
            flights_open: flights_open.get(),
            leaders: leaders.get(),
            followers: followers.get(),
            bypassed: bypassed.get(),
            overloaded: overloaded.get(),
            abandoned: abandoned.get(),
            refused: refused.get(),
            lagged: lagged.get(),
            panicked: panicked.get(),
            too_old: too_old.get(),
        }
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }
}

// === impl Counter ===

impl Counter {
    pub(crate) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn down(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
