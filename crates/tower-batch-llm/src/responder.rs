//! The inner service's end of an item.

use std::{
    fmt,
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use tokio::sync::oneshot;
use tower::BoxError;

/// The way back to one caller: answer it once, whenever its item is done.
///
/// Items of a batch are answered one by one and in any order, so a short answer never waits for a
/// long one. A responder may be moved to another task and outlive the batch's call, as long as
/// that call ends with `Ok`.
///
/// Dropped without an answer, its caller gets the error of the batch's call, or
/// [`Unanswered`](crate::error::Unanswered) if that call ends well. Either way it hears of it when
/// the call ends, because only then is the cause known.
pub struct Responder<Res> {
    answer: oneshot::Sender<Result<Res, BoxError>>,
    // How many items of this batch have been answered; its audience reads it.
    answered: Arc<AtomicUsize>,
}

// === impl Responder ===

impl<Res> Responder<Res> {
    pub(crate) fn new(
        answer: oneshot::Sender<Result<Res, BoxError>>,
        answered: Arc<AtomicUsize>,
    ) -> Self {
        Self { answer, answered }
    }

    /// Answers the item. An error goes to this caller only, as it is.
    ///
    /// If the caller has left, the result is dropped.
    pub fn send(self, result: Result<Res, BoxError>) {
        // Correctness: counted before it is sent. Whoever sees that the caller has gone because it
        // was answered (the audience) also sees the count; see `Audience::poll_abandoned`.
        self.answered.fetch_add(1, Ordering::Release);
        drop(self.answer.send(result));
    }

    /// Whether the caller has left, so that its item need not be worked on.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.answer.is_closed()
    }

    /// Waits until the caller leaves.
    pub async fn closed(&mut self) {
        poll_fn(|cx| self.poll_closed(cx)).await;
    }

    /// `Ready` once the caller has left; the poll form of [`closed`](Self::closed).
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.answer.poll_closed(cx)
    }
}

impl<Res> fmt::Debug for Responder<Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder")
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
