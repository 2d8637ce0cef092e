use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tower::BoxError;
use tower_service::Service;

use super::mode::Mode;
use super::trial::Work;
use super::worker::Worker;
#[cfg(feature = "serde")]
use crate::bounded::State;
use crate::bounded::{Candidate, Controller, Decision, Judgement, Next, Reason, Snapshot, Ticket};
use crate::cache::Cache;
use crate::judge::Comparison;

/// Serves similar answers under a bound on how many of them are wrong: what
/// [`Matching::Bounded`](crate::Matching::Bounded) asks for.
///
/// A handle; clones speak of the same [`Controller`]. One for a whole layer bounds the share over all
/// its scopes together, not in each.
pub struct Bounded<V> {
    shared: Arc<Shared>,
    work: mpsc::Sender<Work<V>>,
}

pub(super) struct Shared {
    pub(super) controller: Mutex<Controller>,
    refused: [AtomicU64; Reason::ALL.len()],
    pub(super) counts: Counts,
    /// Read and written under the controller's lock.
    stopped: AtomicBool,
    mode: Mode,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) same: AtomicU64,
    pub(super) different: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) again: AtomicU64,
}

/// How comparisons came out, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judged {
    /// The two answers say the same.
    pub same: u64,
    /// They differ.
    pub different: u64,
    /// No judgement came: the answer, or the judge, failed.
    pub failed: u64,
    /// Two fresh answers to one request were compared: see [`Worker::again`].
    pub again: u64,
}

/// How many audits may wait for the judge. One beyond them fails.
const WAITING: usize = 1_024;

// === impl Bounded ===

impl<V> Bounded<V> {
    /// A policy, and the worker that has its audits judged. The worker has to be spawned: without it
    /// no audit comes to a judgement, and nothing is served.
    ///
    /// `cache` is the one of the layer.
    pub fn pair<J>(
        controller: Controller,
        mode: Mode,
        cache: Cache<V>,
        judge: J,
    ) -> (Self, Worker<V, J>)
    where
        J: Service<Comparison<V>, Response = Judgement>,
        J::Error: Into<BoxError>,
    {
        let shared = Arc::new(Shared {
            controller: Mutex::new(controller),
            refused: Default::default(),
            counts: Counts::default(),
            stopped: AtomicBool::new(false),
            mode,
        });
        let (work, waiting) = mpsc::channel(WAITING);
        let worker = Worker::new(Arc::clone(&shared), waiting, cache, judge);
        (Self { shared, work }, worker)
    }

    /// Where it stands.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.shared.controller.lock().snapshot()
    }

    /// How often nothing was served, by reason.
    pub fn refused(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        let counts = self.shared.refused.iter();
        Reason::ALL
            .into_iter()
            .zip(counts.map(|n| n.load(Ordering::Relaxed)))
    }

    /// Whether what it decides is served.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.shared.mode
    }

    /// How comparisons came out. A pair may be compared twice, and once more with a rival.
    #[must_use]
    pub fn judged(&self) -> Judged {
        let Counts {
            same,
            different,
            failed,
            again,
        } = &self.shared.counts;
        Judged {
            same: same.load(Ordering::Relaxed),
            different: different.load(Ordering::Relaxed),
            failed: failed.load(Ordering::Relaxed),
            again: again.load(Ordering::Relaxed),
        }
    }

    /// What must outlive the process, as of now; see [`Certificate::resume`](crate::bounded::Certificate::resume).
    #[cfg(feature = "serde")]
    #[must_use]
    pub fn state(&self) -> State {
        self.shared.controller.lock().certificate().state()
    }

    /// Serves nothing similar from here on, and gives the state that this leaves: the last one.
    #[cfg(feature = "serde")]
    #[must_use]
    pub fn stop(&self) -> State {
        let controller = self.shared.controller.lock();
        // Correctness: under the lock under which decisions are made, so that none is missing in the state.
        self.shared.stopped.store(true, Ordering::Relaxed);
        controller.certificate().state()
    }

    /// Decides about one request.
    pub(crate) fn decide(&self, candidates: &[Candidate]) -> Decision {
        let coin = || match self.shared.mode {
            Mode::Serve => random(),
            Mode::Shadow => 0.0,
        };
        let mut controller = self.shared.controller.lock();
        let decision = if self.shared.stopped.load(Ordering::Relaxed) {
            Decision::Refuse(Reason::Closed, controller.cluster())
        } else {
            controller.decide(candidates, coin)
        };
        drop(controller);
        let reason = match &decision {
            Decision::Explore(_, reason) | Decision::Refuse(reason, _) => Some(*reason),
            Decision::Serve { .. } | Decision::Audit(_) => None,
        };
        let at = reason.and_then(|reason| Reason::ALL.iter().position(|known| *known == reason));
        if let Some(count) = at.and_then(|at| self.shared.refused.get(at)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        decision
    }
}

impl<V> Bounded<V> {
    /// A decision was carried out as far as a fresh answer; now it wants a judgement.
    pub(super) fn submit(&self, work: Work<V>) {
        // Half of the room is kept for audits: one that is lost counts as a wrong answer found.
        let full = !work.ticket.is_audit() && self.work.capacity() <= WAITING / 2;
        let lost = if full {
            Some(work)
        } else {
            self.work
                .try_send(work)
                .err()
                .map(|error| error.into_inner())
        };
        if let Some(Work { ticket, .. }) = lost {
            self.give_up(ticket);
        }
    }

    /// No judgement will come.
    pub(super) fn give_up(&self, ticket: Ticket) {
        self.shared.failed(ticket);
    }
}

// === impl Shared ===

impl Shared {
    pub(super) fn failed(&self, ticket: Ticket) {
        self.counts.failed.fetch_add(1, Ordering::Relaxed);
        let _ = self.controller.lock().failed(ticket);
    }

    pub(super) fn judged(&self, ticket: Ticket, judgement: Judgement) -> Next {
        let count = match judgement {
            Judgement::Same => &self.counts.same,
            Judgement::Different => &self.counts.different,
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.controller.lock().judged(ticket, judgement)
    }

    pub(super) fn compared_fresh(&self, judgement: Judgement) {
        self.counts.again.fetch_add(1, Ordering::Relaxed);
        self.controller.lock().compared_fresh(judgement);
    }
}

impl<V> Clone for Bounded<V> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            work: self.work.clone(),
        }
    }
}

impl<V> fmt::Debug for Bounded<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded")
            .field("mode", &self.shared.mode)
            .finish_non_exhaustive()
    }
}

/// A number drawn uniformly from [0, 1), that nobody can foresee: the coin must be independent of
/// whatever callers and backends do.
///
/// Without a source of chance it is 0, which audits.
pub(super) fn random() -> f64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        // 53 bits: the integers that an f64 holds exactly.
        Ok(()) => (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64,
        Err(_) => 0.0,
    }
}
