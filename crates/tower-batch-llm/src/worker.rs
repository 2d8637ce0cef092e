//! The task behind a batcher: it forms batches and sends them.

use std::{
    future::{Future, poll_fn},
    hash::Hash,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::{Instant, Sleep, sleep_until},
};
use tower::BoxError;
use tower_service::Service;

use crate::{
    Batch, Window,
    backlog::{Backlog, Hurry},
    call::Call,
    failure::{Failure, catch},
    stats::{Counters, Queued},
    ticket::Ticket,
};

/// An item on its way to the worker.
#[derive(Debug)]
pub(crate) struct Arrival<Req, Res> {
    pub(crate) request: Req,
    pub(crate) ticket: Ticket<Res>,
}

/// Where the worker hears from the handles and the response futures.
#[derive(Debug)]
pub(crate) struct Inbox<Req, Res> {
    pub(crate) arrivals: mpsc::UnboundedReceiver<Arrival<Req, Res>>,
    pub(crate) leavers: mpsc::UnboundedReceiver<()>,
    pub(crate) slots: Arc<Semaphore>,
}

/// Owns everything but the handles: the queue, the timer, the inner service, the running calls.
///
/// It ends when the last handle is gone, the queue is empty and no call is running.
pub(crate) struct Worker<S, Req, Res, K> {
    service: S,
    /// The clone that is being made ready for the next batch.
    next: Option<S>,
    inbox: Inbox<Req, Res>,
    backlog: Backlog<Req, Res, K>,
    window: Window,
    max_in_flight: usize,
    calls: JoinSet<()>,
    timer: Pin<Box<Sleep>>,
    counters: Arc<Counters>,
    queued: Queued,
    closing: bool,
}

// === impl Worker ===

impl<S, Req, Res, K> Worker<S, Req, Res, K>
where
    S: Service<Batch<Req, Res>, Response = ()> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    Req: Send + 'static,
    Res: Send + 'static,
    K: Hash + Eq + Clone,
{
    pub(crate) fn new(
        service: S,
        inbox: Inbox<Req, Res>,
        backlog: Backlog<Req, Res, K>,
        window: Window,
        max_in_flight: usize,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            service,
            next: None,
            inbox,
            backlog,
            window,
            max_in_flight,
            calls: JoinSet::new(),
            timer: Box::pin(sleep_until(Instant::now())),
            queued: Queued::new(Arc::clone(&counters)),
            counters,
            closing: false,
        }
    }

    pub(crate) async fn run(mut self) {
        poll_fn(|cx| self.poll(cx)).await;
    }

    /// Correctness: each round takes in what has come, sends what is due, and only then looks at
    /// what else could make a batch due. New items cannot starve the timer, since deadlines are
    /// compared with the clock in every round and the cooperative budget bounds how many items
    /// one round takes in. It sleeps only with its waker at every source that can change the
    /// picture: both channels; the calls, polled after new ones were spawned, since an empty
    /// `JoinSet` keeps no waker; the service, if it was not ready; the timer, if a batch waits
    /// for its window.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.take_in(cx);
            let now = Instant::now();
            self.dispatch(now, cx);
            self.queued.show(self.backlog.len());
            if self.reap(cx) {
                continue;
            }
            if self.closing && self.backlog.is_empty() && self.calls.is_empty() {
                return Poll::Ready(());
            }
            ready!(self.poll_timer(now, cx));
        }
    }

    fn take_in(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(arrival) = self.inbox.arrivals.poll_recv(cx) {
            let Some(Arrival { request, ticket }) = arrival else {
                self.closing = true;
                break;
            };
            self.backlog.push(request, ticket);
        }
        let mut left = false;
        while let Poll::Ready(Some(())) = self.inbox.leavers.poll_recv(cx) {
            left = true;
        }
        if left {
            self.backlog.purge();
        }
    }

    /// Sends what is due, as far as there is room for another batch and the service is ready.
    fn dispatch(&mut self, now: Instant, cx: &mut Context<'_>) {
        while self.calls.len() < self.max_in_flight {
            let idle = self.window.opens_when_idle() && self.calls.is_empty();
            let hurry = if idle || self.closing {
                Hurry::Yes
            } else {
                Hurry::No
            };
            let Some(key) = self.backlog.next_due(now, hurry) else {
                // Never hold the inner service's capacity without a batch to use it for.
                self.next = None;
                return;
            };
            // Until the service is ready, the batch stays open and goes on filling.
            let Poll::Ready(service) = self.poll_service(cx) else {
                return;
            };
            let Some((batch, mut audience)) = self.backlog.cut(&key) else {
                return;
            };
            let mut service = match service {
                Ok(service) => service,
                Err(failure) => {
                    self.counters.failed();
                    audience.fail(&failure);
                    continue;
                }
            };
            let running = self.counters.start(audience.items());
            // Called here and not in its task, so that batches reach the service in order and the
            // next one asks for readiness only when this one has used its own.
            match catch(move || service.call(batch)) {
                Ok(future) => {
                    self.calls.spawn(Call::new(future, audience, running));
                }
                Err(panicked) => {
                    running.failed();
                    audience.fail(&Failure::from(panicked));
                }
            }
        }
    }

    /// A clone of the inner service that is ready for one batch.
    ///
    /// Each batch has its own: it is the clone that was made ready that is called, and one that
    /// failed or panicked is thrown away with its batch.
    fn poll_service(&mut self, cx: &mut Context<'_>) -> Poll<Result<S, Failure>> {
        let Self { service, next, .. } = self;
        let polled = catch(|| {
            let mut service = next.take().unwrap_or_else(|| service.clone());
            match service.poll_ready(cx) {
                Poll::Pending => {
                    *next = Some(service);
                    Poll::Pending
                }
                Poll::Ready(Ok(())) => Poll::Ready(Ok(service)),
                Poll::Ready(Err(error)) => Poll::Ready(Err(Failure::from(error.into()))),
            }
        });
        polled.unwrap_or_else(|panicked| Poll::Ready(Err(Failure::from(panicked))))
    }

    /// Clears away calls that have ended; says whether there were any.
    fn reap(&mut self, cx: &mut Context<'_>) -> bool {
        let mut reaped = false;
        // How a call ended, its callers know; that it ended is all we need.
        while let Poll::Ready(Some(_)) = self.calls.poll_join_next(cx) {
            reaped = true;
        }
        reaped
    }

    /// `Ready` when a batch has come to the end of its window.
    fn poll_timer(&mut self, now: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.backlog.next_deadline(now) else {
            return Poll::Pending;
        };
        if self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        self.timer.as_mut().poll(cx)
    }
}

impl<Req, Res> Drop for Inbox<Req, Res> {
    fn drop(&mut self) {
        // However the worker ends, whoever waits for a slot is woken and told.
        self.slots.close();
    }
}
