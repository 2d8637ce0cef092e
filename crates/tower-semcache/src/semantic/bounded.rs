use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tower::BoxError;
use tower_service::Service;

use super::trial::Work;
use super::worker::Worker;
use crate::bounded::{Candidate, Controller, Decision, Judgement, Reason, Snapshot, Ticket};
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
    lost: AtomicU64,
    mode: Mode,
}

/// Whether decisions are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// They are.
    #[default]
    Serve,
    /// Nothing is served: every would-be hit is an audit. It shows what would be served, and how
    /// much of it would be wrong, at the price of none.
    Shadow,
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
            lost: AtomicU64::new(0),
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

    /// Decides about one request.
    pub(crate) fn decide(&self, candidates: &[Candidate]) -> Decision {
        let coin = || match self.shared.mode {
            Mode::Serve => random(),
            Mode::Shadow => 0.0,
        };
        let decision = self.shared.controller.lock().decide(candidates, coin);
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
        self.shared.lost.fetch_add(1, Ordering::Relaxed);
        let _ = self.shared.controller.lock().failed(ticket);
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
fn random() -> f64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        // 53 bits: the integers that an f64 holds exactly.
        Ok(()) => (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64,
        Err(_) => 0.0,
    }
}
