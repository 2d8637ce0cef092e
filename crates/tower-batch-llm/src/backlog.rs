//! All waiting items: one queue a group.

use std::{collections::HashMap, fmt, hash::Hash, sync::Arc};

use tokio::time::Instant;

use crate::{
    Batch,
    audience::Audience,
    failure::catch,
    queue::{Queue, Rules},
    ticket::Ticket,
};

/// Which items may share a batch.
pub(crate) enum Grouping<Req, K> {
    /// All of them.
    One(K),
    /// Those of one key.
    By(Arc<dyn Fn(&Req) -> K + Send + Sync>),
}

/// Why a batch may go that is neither full nor at the end of its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hurry {
    /// It may not.
    No,
    /// Nothing is to be gained by waiting.
    Yes,
}

/// The queues; a group without items has none, so there are never more of them than queue slots.
pub(crate) struct Backlog<Req, Res, K> {
    groups: HashMap<K, Queue<Req, Res>>,
    grouping: Grouping<Req, K>,
    rules: Rules<Req>,
    capacity: usize,
    arrivals: u64,
}

// === impl Backlog ===

impl<Req, Res, K> Backlog<Req, Res, K>
where
    K: Hash + Eq + Clone,
{
    pub(crate) fn new(grouping: Grouping<Req, K>, rules: Rules<Req>, capacity: usize) -> Self {
        Self {
            groups: HashMap::new(),
            grouping,
            rules,
            capacity,
            arrivals: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.values().map(Queue::len).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(crate) fn push(&mut self, request: Req, ticket: Ticket<Res>) {
        if ticket.is_gone() {
            return self.rules.counters.cancelled(1);
        }
        let key = match &self.grouping {
            Grouping::One(key) => key.clone(),
            Grouping::By(key) => match catch(|| key(&request)) {
                Ok(key) => key,
                Err(panicked) => return ticket.refuse(panicked),
            },
        };
        self.arrivals += 1;
        let queue = self.groups.entry(key.clone()).or_insert_with(Queue::new);
        queue.push(self.arrivals, request, ticket, &self.rules);
        if queue.is_empty() {
            self.groups.remove(&key);
        }
    }

    /// Takes out everybody who left.
    pub(crate) fn purge(&mut self) {
        self.groups.retain(|_, queue| {
            queue.purge(&self.rules);
            !queue.is_empty()
        });
    }

    /// The group whose batch goes next: of those that are due, the one that waits longest.
    pub(crate) fn next_due(&mut self, now: Instant, hurry: Hurry) -> Option<K> {
        loop {
            let key = match hurry {
                Hurry::Yes => self.oldest(|_| true),
                Hurry::No => self
                    .oldest(|queue| queue.is_due(&self.rules, now))
                    .or_else(|| self.oldest_if_crowded()),
            }?;
            let queue = self.groups.get_mut(&key)?;
            if queue.is_settled(&self.rules) {
                return Some(key);
            }
            // Somebody had left and was taken out: look again, the batch may have to wait now.
            if queue.is_empty() {
                self.groups.remove(&key);
            }
        }
    }

    /// When the next batch that is not due yet will be.
    pub(crate) fn next_deadline(&self, now: Instant) -> Option<Instant> {
        self.groups
            .values()
            .filter_map(|queue| queue.deadline(&self.rules))
            .filter(|deadline| *deadline > now)
            .min()
    }

    /// Cuts off the batch of a group.
    pub(crate) fn cut(&mut self, key: &K) -> Option<(Batch<Req, Res>, Audience)> {
        let queue = self.groups.get_mut(key)?;
        let cut = queue.cut(&self.rules);
        if queue.is_empty() {
            self.groups.remove(key);
        }
        cut
    }

    /// With the queue full nobody can join a batch, so it is no use to wait.
    fn oldest_if_crowded(&self) -> Option<K> {
        let crowded = self.len() >= self.capacity;
        crowded.then(|| self.oldest(|_| true)).flatten()
    }

    fn oldest(&self, filter: impl Fn(&Queue<Req, Res>) -> bool) -> Option<K> {
        self.groups
            .iter()
            .filter(|(_, queue)| filter(queue))
            .min_by_key(|(_, queue)| queue.oldest())
            .map(|(key, _)| key.clone())
    }
}

// === impl Grouping ===

impl<Req, K: Clone> Clone for Grouping<Req, K> {
    fn clone(&self) -> Self {
        match self {
            Self::One(key) => Self::One(key.clone()),
            Self::By(key) => Self::By(Arc::clone(key)),
        }
    }
}

impl<Req, K> fmt::Debug for Grouping<Req, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One(_) => "One",
            Self::By(_) => "By",
        })
    }
}
