//! The handle that callers hold.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::PollSemaphore;
use tower::BoxError;
use tower_service::Service;

use crate::{
    error::{Closed, NotReady},
    future::ResponseFuture,
    ticket::Ticket,
    worker::Arrival,
};

/// A service of single requests that reach the inner service in batches.
///
/// See the [module docs](crate). `poll_ready` reserves a place in the queue and `call` takes it.
/// A place that is reserved and not used is free again when this handle is dropped.
///
/// The inner service belongs to the worker, so there is no `get_ref` here; the worker ends after
/// the last handle.
pub struct Batcher<Req, Res> {
    arrivals: mpsc::UnboundedSender<Arrival<Req, Res>>,
    leave: mpsc::UnboundedSender<()>,
    slots: PollSemaphore,
    reserved: Option<OwnedSemaphorePermit>,
}

// === impl Batcher ===

impl<Req, Res> Batcher<Req, Res> {
    pub(crate) fn new(
        arrivals: mpsc::UnboundedSender<Arrival<Req, Res>>,
        leave: mpsc::UnboundedSender<()>,
        slots: Arc<Semaphore>,
    ) -> Self {
        Self {
            arrivals,
            leave,
            slots: PollSemaphore::new(slots),
            reserved: None,
        }
    }
}

impl<Req, Res> Service<Req> for Batcher<Req, Res> {
    type Response = Res;
    type Error = BoxError;
    type Future = ResponseFuture<Res>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        if self.reserved.is_none() {
            self.reserved = ready!(self.slots.poll_acquire(cx));
        }
        // No place (the semaphore is closed) or a place in a queue that nobody serves.
        if self.reserved.is_none() || self.arrivals.is_closed() {
            self.reserved = None;
            return Poll::Ready(Err(Closed::new().into()));
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let Some(slot) = self.reserved.take() else {
            return ResponseFuture::refused(NotReady::new());
        };
        let (answer, answered) = oneshot::channel();
        let (verdict, decided) = oneshot::channel();
        let ticket = Ticket::new(answer, verdict, slot);
        // If the worker has died since `poll_ready`, the ticket comes back and tells the future
        // so as it is dropped.
        drop(self.arrivals.send(Arrival { request, ticket }));
        ResponseFuture::waiting(answered, decided, self.leave.clone())
    }
}

impl<Req, Res> Clone for Batcher<Req, Res> {
    /// The clone shares the queue, but not the place in it that this handle may have reserved:
    /// readiness is not transferable, so a clone must be polled ready itself.
    fn clone(&self) -> Self {
        Self {
            arrivals: self.arrivals.clone(),
            leave: self.leave.clone(),
            slots: self.slots.clone(),
            reserved: None,
        }
    }
}

impl<Req, Res> fmt::Debug for Batcher<Req, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batcher")
            .field("free_slots", &self.slots.available_permits())
            .field("reserved", &self.reserved.is_some())
            .finish_non_exhaustive()
    }
}
