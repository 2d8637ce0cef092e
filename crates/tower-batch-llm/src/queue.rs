//! The items of one group, in the order of their arrival, and the batch at their head.

use std::{
    collections::{VecDeque, vec_deque},
    mem,
    sync::{Arc, atomic::AtomicUsize},
};

use tokio::time::Instant;

use crate::{
    Batch, Item, Oversized, Window,
    audience::Audience,
    cost::{MaxCost, SoFar},
    error::TooLarge,
    failure::catch,
    stats::Counters,
    ticket::Ticket,
};

/// What a batch must keep to.
pub(crate) struct Rules<Req> {
    pub(crate) max_items: usize,
    pub(crate) max_cost: Option<MaxCost<Req>>,
    pub(crate) oversized: Oversized,
    pub(crate) window: Window,
    pub(crate) counters: Arc<Counters>,
}

/// A first-in first-out queue whose first `fit` items are the next batch.
///
/// The batch is only cut off when it goes, so that whoever leaves before makes room for the next.
/// Requests and tickets stand side by side: the cost function sees requests and nothing else.
pub(crate) struct Queue<Req, Res> {
    requests: VecDeque<Req>,
    tickets: VecDeque<(u64, Ticket<Res>)>,
    fit: usize,
    cost: u64,
    full: bool,
}

// === impl Queue ===

impl<Req, Res> Queue<Req, Res> {
    pub(crate) fn new() -> Self {
        Self {
            requests: VecDeque::new(),
            tickets: VecDeque::new(),
            fit: 0,
            cost: 0,
            full: false,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tickets.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tickets.is_empty()
    }

    /// The number of the oldest item.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.tickets.front().map(|(number, _)| *number)
    }

    /// When the batch must go if it does not fill before.
    pub(crate) fn deadline(&self, rules: &Rules<Req>) -> Option<Instant> {
        let (_, first) = self.tickets.front()?;
        rules.window.deadline(first.arrived())
    }

    /// Whether the batch need not wait for company.
    pub(crate) fn is_due(&self, rules: &Rules<Req>, now: Instant) -> bool {
        self.full || self.deadline(rules).is_some_and(|end| end <= now)
    }

    /// Takes an item in, or answers it if it may not come in.
    pub(crate) fn push(
        &mut self,
        number: u64,
        request: Req,
        ticket: Ticket<Res>,
        rules: &Rules<Req>,
    ) {
        if let (Some(max), Oversized::Refuse) = (&rules.max_cost, rules.oversized) {
            match catch(|| (max.cost)(SoFar::new(vec_deque::Iter::default(), 0), &request)) {
                Ok(cost) if cost > max.limit => {
                    rules.counters.refused();
                    return ticket.refuse(TooLarge::new(cost, max.limit));
                }
                Ok(_) => {}
                Err(panicked) => return ticket.refuse(panicked),
            }
        }
        self.requests.push_back(request);
        self.tickets.push_back((number, ticket));
        self.grow(rules);
    }

    /// Takes out everybody who left.
    pub(crate) fn purge(&mut self, rules: &Rules<Req>) {
        if !self.tickets.iter().any(|(_, ticket)| ticket.is_gone()) {
            return;
        }
        let before = self.len();
        let requests = mem::take(&mut self.requests).into_iter();
        (self.requests, self.tickets) = requests
            .zip(mem::take(&mut self.tickets))
            .filter(|(_, (_, ticket))| !ticket.is_gone())
            .unzip();
        rules.counters.cancelled(before - self.len());
        self.reset(rules);
    }

    /// Makes sure that nobody in the batch has left; says whether it was so already.
    pub(crate) fn is_settled(&mut self, rules: &Rules<Req>) -> bool {
        let gone = |(_, ticket): &(u64, Ticket<Res>)| ticket.is_gone();
        if !self.tickets.iter().take(self.fit).any(gone) {
            return true;
        }
        self.reset(rules);
        false
    }

    /// Cuts the batch off.
    pub(crate) fn cut(&mut self, rules: &Rules<Req>) -> Option<(Batch<Req, Res>, Audience)> {
        if self.fit == 0 {
            return None;
        }
        let answered = Arc::new(AtomicUsize::new(0));
        let requests = self.requests.drain(..self.fit);
        let tickets = self.tickets.drain(..self.fit);
        let (items, verdicts) = requests
            .zip(tickets)
            .map(|(request, (_, ticket))| {
                let (responder, verdict) = ticket.redeem(&answered);
                (Item { request, responder }, verdict)
            })
            .unzip();
        let batch = Batch::new(items, self.cost);
        self.reset(rules);
        Some((batch, Audience::new(verdicts, answered)))
    }

    fn reset(&mut self, rules: &Rules<Req>) {
        self.fit = 0;
        self.cost = 0;
        self.full = false;
        self.grow(rules);
    }

    /// Lets items join the batch as long as they fit and are still wanted.
    fn grow(&mut self, rules: &Rules<Req>) {
        while !self.full {
            let Some(next) = self.requests.get(self.fit) else {
                return;
            };
            if self
                .tickets
                .get(self.fit)
                .is_none_or(|(_, ticket)| ticket.is_gone())
            {
                rules.counters.cancelled(1);
                drop(self.take_next());
                continue;
            }
            let so_far = SoFar::new(self.requests.range(..self.fit), self.cost);
            let (cost, limit) = match &rules.max_cost {
                None => (so_far.len() as u64 + 1, u64::MAX),
                Some(max) => match catch(|| (max.cost)(so_far, next)) {
                    Ok(cost) => (cost, max.limit),
                    Err(panicked) => {
                        if let Some(ticket) = self.take_next() {
                            ticket.refuse(panicked);
                        }
                        continue;
                    }
                },
            };
            // The first always fits: an oversized item goes alone.
            if self.fit == 0 || cost <= limit {
                self.fit += 1;
                self.cost = cost;
                self.full = self.fit >= rules.max_items || cost >= limit;
            } else {
                self.full = true;
            }
        }
    }

    /// Takes out the item that was about to join the batch.
    fn take_next(&mut self) -> Option<Ticket<Res>> {
        self.requests.remove(self.fit);
        self.tickets.remove(self.fit).map(|(_, ticket)| ticket)
    }
}
