//! The batcher's end of an item: what waits in the queue in its caller's place.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    task::{Context, Poll},
};

use tokio::{
    sync::{OwnedSemaphorePermit, oneshot},
    time::Instant,
};
use tower::BoxError;

use crate::{Responder, error::Closed};

/// One waiting item without its request.
#[derive(Debug)]
pub(crate) struct Ticket<Res> {
    arrived: Instant,
    answer: oneshot::Sender<Result<Res, BoxError>>,
    verdict: Verdict,
    // The item's place in the queue, free as soon as the item leaves it.
    slot: OwnedSemaphorePermit,
}

/// The second way to a caller, kept by us: it tells what became of the call when the inner service
/// did not answer. Dropped in any other way than by a method, it tells that the batcher is gone.
#[derive(Debug)]
pub(crate) struct Verdict(Option<oneshot::Sender<BoxError>>);

// === impl Ticket ===

impl<Res> Ticket<Res> {
    pub(crate) fn new(
        answer: oneshot::Sender<Result<Res, BoxError>>,
        verdict: oneshot::Sender<BoxError>,
        slot: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            arrived: Instant::now(),
            answer,
            verdict: Verdict(Some(verdict)),
            slot,
        }
    }

    pub(crate) fn arrived(&self) -> Instant {
        self.arrived
    }

    /// Whether the caller has left.
    pub(crate) fn is_gone(&self) -> bool {
        // Correctness: `is_closed`, not `poll_closed`, which says no once the task's cooperative
        // budget is spent: https://github.com/tower-rs/tower/pull/668
        self.verdict.is_closed()
    }

    /// Gives the queue slot back and parts what the inner service gets from what we keep.
    pub(crate) fn redeem(self, answered: &Arc<AtomicUsize>) -> (Responder<Res>, Verdict) {
        let Self {
            arrived: _,
            answer,
            verdict,
            slot,
        } = self;
        drop(slot);
        (Responder::new(answer, Arc::clone(answered)), verdict)
    }

    /// Answers the caller in place of the inner service.
    pub(crate) fn refuse(self, error: impl Into<BoxError>) {
        self.verdict.settle(error.into());
    }
}

// === impl Verdict ===

impl Verdict {
    /// The call failed.
    pub(crate) fn settle(mut self, error: BoxError) {
        if let Some(sender) = self.0.take() {
            drop(sender.send(error));
        }
    }

    /// The call ended well: the answer, if it is still to come, comes from the responder.
    pub(crate) fn dismiss(mut self) {
        self.0 = None;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    pub(crate) fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Some(sender) => sender.poll_closed(cx),
            None => Poll::Ready(()),
        }
    }
}

impl Drop for Verdict {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take()
            && !sender.is_closed()
        {
            drop(sender.send(Box::new(Closed::new())));
        }
    }
}
