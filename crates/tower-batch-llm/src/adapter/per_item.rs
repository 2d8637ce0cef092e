//! Single calls, all at once.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tokio::task::JoinSet;
use tower::{BoxError, ServiceExt, util::Oneshot};
use tower_service::Service;

use crate::{Batch, Item, Responder, failure::catch};

/// Makes an inner service of a service of single requests: every item of a batch is a call of its
/// own, all at once.
///
/// This is for servers that schedule their work per decode step and so batch by themselves: what
/// is left to do here is to bound and to pace what they get.
///
/// Always ready: each item drives a clone of the service with `Oneshot`, in a task of its own.
/// Items succeed, fail (their error reaches the caller as it is), panic
/// ([`Panicked`](crate::error::Panicked)) and are cancelled one by one; the batch's call itself
/// never fails and ends with its last item.
#[derive(Clone, Debug)]
pub struct PerItem<S> {
    inner: S,
}

/// Waits for all items of a batch; dropping it drops all their calls.
#[derive(Debug)]
pub struct PerItemFuture {
    calls: JoinSet<()>,
}

pin_project! {
    /// One item's call, as long as its caller waits.
    struct ItemCall<F, Res> {
        #[pin]
        call: Option<F>,
        responder: Option<Responder<Res>>,
    }
}

// === impl PerItem ===

impl<S> PerItem<S> {
    /// Calls `inner` once an item.
    pub const fn new(inner: S) -> Self {
        Self { inner }
    }

    /// The service of single requests.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The service of single requests.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The service of single requests.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, Req, Res> Service<Batch<Req, Res>> for PerItem<S>
where
    S: Service<Req, Response = Res> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    Req: Send + 'static,
    Res: Send + 'static,
{
    type Response = ();
    type Error = Infallible;
    type Future = PerItemFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, batch: Batch<Req, Res>) -> Self::Future {
        let mut calls = JoinSet::new();
        for Item { request, responder } in batch {
            let call: Oneshot<S, Req> = self.inner.clone().oneshot(request);
            calls.spawn(ItemCall {
                call: Some(call),
                responder: Some(responder),
            });
        }
        PerItemFuture { calls }
    }
}

// === impl PerItemFuture ===

impl Future for PerItemFuture {
    type Output = Result<(), Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        while ready!(self.calls.poll_join_next(cx)).is_some() {}
        Poll::Ready(Ok(()))
    }
}

// === impl ItemCall ===

impl<F, Res, E> Future for ItemCall<F, Res>
where
    F: Future<Output = Result<Res, E>>,
    E: Into<BoxError>,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let Some(responder) = this.responder.as_mut() else {
            return Poll::Ready(());
        };
        // Correctness: the caller first, so that it is seen to have left even if the call spends
        // the task's cooperative budget in every poll.
        if responder.poll_closed(cx).is_pending() {
            let polled = catch(|| this.call.as_mut().as_pin_mut().map(|call| call.poll(cx)));
            let result = match polled {
                Ok(Some(poll)) => ready!(poll).map_err(Into::into),
                Ok(None) => return Poll::Ready(()),
                Err(panicked) => Err(panicked.into()),
            };
            if let Some(responder) = this.responder.take() {
                responder.send(result);
            }
        }
        drop(catch(|| this.call.set(None)));
        Poll::Ready(())
    }
}
