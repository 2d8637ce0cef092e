use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tower::BoxError;
use tower::ServiceExt as _;
use tower::util::BoxCloneSyncService;
use tower_service::Service;

use super::again::Again;
use super::bounded::Shared;
use super::case::{AskAgain, Case};
use super::trial::Work;
use crate::bounded::Judgement;
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
    again: Option<AskAgain<V>>,
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
            again: None,
            concurrency: CONCURRENCY,
            deadline: DEADLINE,
        }
    }

    /// Who answers a request once more, past the cache. Then an answer found different is compared with
    /// a second fresh answer before it counts as wrong; and after one comparison in sixteen two fresh
    /// answers to one request are compared, which tells how often the judge disagrees with itself:
    /// above a quarter of the allowed share of wrong answers nothing is served
    /// ([`Reason::JudgeNoise`](crate::bounded::Reason::JudgeNoise)).
    ///
    /// Default: nobody. The judge then looks at the same two answers twice, and its noise is not known.
    pub fn again<S>(mut self, service: S) -> Self
    where
        S: Service<Again, Response = V> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        V: 'static,
    {
        self.again = Some(BoxCloneSyncService::new(service.map_err(Into::into)));
        self
    }

    /// How many comparisons are made at one time; at least one. Default: 8.
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// How long one comparison, or one answer to compare, may take. One that takes longer fails. Default: 2 minutes.
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
            again,
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
                            again: again.clone(),
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
