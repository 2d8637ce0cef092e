use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tower::BoxError;
use tower::util::Oneshot;
use tower_service::Service;

use super::bounded::Shared;
use super::trial::Work;
use crate::bounded::{Fresh, Judgement, Next, Ticket};
use crate::cache::Cache;
use crate::judge::Comparison;

/// Has audits judged, off the path of requests, and keeps the score up to date.
///
/// It ends when the last [`Bounded`](super::Bounded) is gone and all that waited is judged.
#[must_use = "nothing is judged unless the worker runs"]
pub struct Worker<V, J> {
    shared: Arc<Shared>,
    waiting: mpsc::Receiver<Work<V>>,
    cache: Cache<V>,
    judge: J,
    concurrency: usize,
    deadline: Duration,
}

/// How many comparisons are made at one time.
const CONCURRENCY: usize = 8;
const DEADLINE: Duration = Duration::from_secs(120);

// === impl Worker ===

impl<V, J> Worker<V, J> {
    pub(super) const fn new(
        shared: Arc<Shared>,
        waiting: mpsc::Receiver<Work<V>>,
        cache: Cache<V>,
        judge: J,
    ) -> Self {
        Self {
            shared,
            waiting,
            cache,
            judge,
            concurrency: CONCURRENCY,
            deadline: DEADLINE,
        }
    }

    /// How many comparisons are made at one time; at least one. Default: 8.
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// How long one comparison may take. One that takes longer fails. Default: 2 minutes.
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

impl<V, J> Worker<V, J>
where
    V: Send + Sync + 'static,
    J: Service<Comparison<V>, Response = Judgement> + Clone + Send + 'static,
    J::Error: Into<BoxError>,
    J::Future: Send,
{
    /// Works until nobody is left who could want a judgement.
    pub async fn run(self) {
        let Self {
            shared,
            mut waiting,
            cache,
            judge,
            concurrency,
            deadline,
        } = self;
        let mut comparisons = JoinSet::new();
        loop {
            let room = comparisons.len() < concurrency;
            tokio::select! {
                // Correctness: what is done first, so that `room` is true again; with nothing under
                // way the branch is off, and with no sender left only the drain remains.
                biased;
                Some(_) = comparisons.join_next() => {}
                work = waiting.recv(), if room => match work {
                    Some(work) => {
                        let case = Case {
                            shared: Arc::clone(&shared),
                            cache: cache.clone(),
                            judge: judge.clone(),
                            deadline,
                        };
                        comparisons.spawn(case.settle(work));
                    }
                    None => break,
                },
            }
            refit(&shared).await;
        }
        while comparisons.join_next().await.is_some() {}
    }
}

/// What one comparison needs.
struct Case<V, J> {
    shared: Arc<Shared>,
    cache: Cache<V>,
    judge: J,
    deadline: Duration,
}

impl<V, J> Case<V, J>
where
    J: Service<Comparison<V>, Response = Judgement> + Clone,
    J::Error: Into<BoxError>,
{
    async fn settle(self, work: Work<V>) {
        let Work {
            ticket,
            asked,
            mut stored,
            neighbours,
            fresh,
        } = work;
        // Dropped halfway (the runtime ends, the judge panics), the audit has failed.
        let mut open = Open {
            shared: Arc::clone(&self.shared),
            ticket: Some(ticket),
        };
        while let Some(ticket) = &open.ticket {
            // The first comparison has its answer at hand; a further one looks it up.
            let near = neighbours.get(ticket.candidate());
            let found = stored.take().or_else(|| self.cache.peek_neighbour(near?));
            let Some(other) = found else { return };
            let comparison = Comparison::new(Arc::clone(&asked), other.clone(), fresh.clone());
            let judgement = compare(self.judge.clone(), self.deadline, comparison).await;
            let Some(ticket) = open.ticket.take() else {
                return;
            };
            let Some(judgement) = judgement else {
                open.ticket = Some(ticket);
                return;
            };
            let next = self.shared.judged(ticket, judgement);
            // A second look may still clear the pair.
            let settled =
                !matches!(&next, Next::Compare(ticket) if ticket.fresh() == Fresh::Second);
            if settled && judgement == Judgement::Different {
                self.cache.veto(other.entry(), fresh.entry());
            }
            match next {
                Next::Done(cluster) => {
                    self.cache.set_cluster(fresh.entry(), cluster.into());
                }
                Next::Compare(ticket) => open.ticket = Some(ticket),
            }
        }
    }
}

/// `None`: no judgement.
async fn compare<V, J>(judge: J, deadline: Duration, comparison: Comparison<V>) -> Option<Judgement>
where
    J: Service<Comparison<V>, Response = Judgement>,
{
    let judged = Oneshot::new(judge, comparison);
    tokio::time::timeout(deadline, judged).await.ok()?.ok()
}

/// A ticket that fails unless it is taken.
struct Open {
    shared: Arc<Shared>,
    ticket: Option<Ticket>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.shared.failed(ticket);
        }
    }
}

/// A new score, when one is due: computed where nobody waits for it.
async fn refit(shared: &Shared) {
    let Some(refit) = shared.controller.lock().refit() else {
        return;
    };
    if let Ok(Some(fitted)) = tokio::task::spawn_blocking(move || refit.run()).await {
        shared.controller.lock().install(fitted);
    }
}

impl<V, J> fmt::Debug for Worker<V, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("concurrency", &self.concurrency)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
