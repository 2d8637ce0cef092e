//! The callers that wait for a running batch.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use crate::{failure::Failure, ticket::Verdict};

/// Everybody who waits for one batch: told when its call fails, heard when they leave.
#[derive(Debug)]
pub(crate) struct Audience {
    verdicts: Vec<Verdict>,
    answered: Arc<AtomicUsize>,
    items: usize,
}

// === impl Audience ===

impl Audience {
    pub(crate) fn new(verdicts: Vec<Verdict>, answered: Arc<AtomicUsize>) -> Self {
        let items = verdicts.len();
        Self {
            verdicts,
            answered,
            items,
        }
    }

    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// `Ready` once nobody waits any more and somebody left without an answer. When everybody got
    /// one, the call may finish what it does afterwards.
    pub(crate) fn poll_abandoned(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Correctness: it is enough to be woken by one caller at a time, since all must go. A
        // caller is gone when it was answered or has left; no wake-up can be missed, because each
        // is looked at anew when its turn comes. Every caller is taken off once: O(items) in all.
        while let Some(verdict) = self.verdicts.last_mut() {
            ready!(verdict.poll_closed(cx));
            self.verdicts.pop();
        }
        // Correctness: `Acquire` pairs with the `Release` in `Responder::send`. A caller that
        // went because of its answer was counted before it could see the answer.
        if self.answered.load(Ordering::Acquire) < self.items {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// The call failed: whoever still waits gets this.
    pub(crate) fn fail(&mut self, failure: &Failure) {
        for verdict in self.verdicts.drain(..) {
            verdict.settle(failure.boxed());
        }
    }

    /// The call ended well.
    pub(crate) fn dismiss(&mut self) {
        self.verdicts.drain(..).for_each(Verdict::dismiss);
    }
}
