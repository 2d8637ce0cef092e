//! One would-be hit, from its fresh answer to a judgement.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tower::BoxError;
use tower::util::{BoxCloneSyncService, Oneshot};
use tower_service::Service;

use super::again::Again;
use super::bounded::{Shared, random};
use super::trial::Work;
use crate::bounded::{Fresh, Judgement, Next, Ticket};
use crate::cache::{Cache, Hit};
use crate::judge::Comparison;

/// Who answers a request once more.
pub(super) type AskAgain<V> = BoxCloneSyncService<Again, V, BoxError>;

/// How probably a comparison is followed by one of two fresh answers to the same request: what the
/// noise of the judge is known from.
const NOISE: f64 = 1.0 / 16.0;

/// What one comparison needs.
pub(super) struct Case<V, J> {
    pub(super) shared: Arc<Shared>,
    pub(super) cache: Cache<V>,
    pub(super) judge: J,
    pub(super) again: Option<AskAgain<V>>,
    pub(super) deadline: Duration,
}

// === impl Case ===

impl<V, J> Case<V, J>
where
    J: Service<Comparison<V>, Response = Judgement> + Clone,
    J::Error: Into<BoxError>,
{
    pub(super) async fn settle(mut self, work: Work<V>) {
        let (asked, fresh) = (Arc::clone(&work.asked), work.fresh.clone());
        self.compare_stored(work).await;
        if self.again.is_some() && random() < NOISE {
            self.compare_fresh(&asked, &fresh).await;
        }
    }

    /// The answer that might have been served, and the fresh one.
    async fn compare_stored(&mut self, work: Work<V>) {
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
            let comparison = match ticket.fresh() {
                Fresh::First => comparison,
                // Where there is no other answer, the judge at least looks twice.
                Fresh::Second => match self.answer_again(&fresh).await {
                    Some(second) => comparison.with(second),
                    None => comparison,
                },
            };
            let judgement = self.compare(comparison).await;
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

    /// Two fresh answers to one request, in the way of an audit: what differs is looked at twice.
    async fn compare_fresh(&mut self, asked: &Arc<str>, fresh: &Hit<V>) {
        for last in [false, true] {
            let Some(second) = self.answer_again(fresh).await else {
                return;
            };
            let comparison = Comparison::new(Arc::clone(asked), fresh.clone(), fresh.clone());
            let Some(judgement) = self.compare(comparison.with(second)).await else {
                return;
            };
            if last || judgement == Judgement::Same {
                return self.shared.compared_fresh(judgement);
            }
        }
    }

    /// `None`: no judgement.
    async fn compare(&mut self, comparison: Comparison<V>) -> Option<Judgement> {
        let judged = Oneshot::new(self.judge.clone(), comparison);
        in_time(self.deadline, judged).await
    }

    /// `None`: there is nobody to ask, or no answer came.
    async fn answer_again(&mut self, fresh: &Hit<V>) -> Option<V> {
        let again = self.again.clone()?;
        let asked = Again::new(fresh.canonical().clone());
        in_time(self.deadline, Oneshot::new(again, asked)).await
    }
}

/// `None`: it failed, or took too long.
async fn in_time<T, E>(deadline: Duration, work: impl Future<Output = Result<T, E>>) -> Option<T> {
    tokio::time::timeout(deadline, work).await.ok()?.ok()
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
