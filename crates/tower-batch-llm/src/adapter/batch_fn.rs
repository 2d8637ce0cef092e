//! An async function over whole batches.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower::BoxError;
use tower_service::Service;

use crate::{Batch, Responder, error::MissingResult};

/// What the function of a [`batch_fn`](batch_fn()) returns: a result for each request, in their order, or an
/// error for all of them.
///
/// ```
/// use tower_batch_llm::{BatchResult, batch_fn};
///
/// async fn halves(numbers: Vec<u64>) -> BatchResult<u64> {
///     let half = |n| if n % 2 == 0 { Ok(n / 2) } else { Err("odd".into()) };
///     Ok(numbers.into_iter().map(half).collect())
/// }
/// # let _ = batch_fn(halves);
/// ```
pub type BatchResult<Res, E = BoxError> = Result<Vec<Result<Res, BoxError>>, E>;

/// Makes an inner service of a function from requests to results, one a request and in the same
/// order.
///
/// * `Err` for the whole batch goes to every item, as the source of a
///   [`Failed`](crate::error::Failed); an `Err` among the results goes to its item alone, as it is.
/// * With fewer results than items, the items left over get a
///   [`MissingResult`](crate::error::MissingResult). Results beyond the last item are dropped.
/// * The function is called once a batch, and its future runs in a task of its own; a panic in
///   either is an error of that batch. What it does before its first `.await` inside an `async`
///   block is part of the future.
///
/// All items are answered when the function has ended. To answer them one by one, implement
/// `Service<Batch<Req, Res>>` instead (with [`tower::service_fn`], say).
pub const fn batch_fn<F>(f: F) -> BatchFn<F> {
    BatchFn { f }
}

/// The service made by [`batch_fn`](batch_fn()). Always ready.
#[derive(Clone)]
pub struct BatchFn<F> {
    f: F,
}

pin_project! {
    /// Runs the function and hands its results out.
    pub struct BatchFnFuture<Fut, Res> {
        #[pin]
        results: Fut,
        responders: Vec<Responder<Res>>,
    }
}

// === impl BatchFn ===

impl<F, Req, Res, Fut, E> Service<Batch<Req, Res>> for BatchFn<F>
where
    F: Fn(Vec<Req>) -> Fut,
    Fut: Future<Output = BatchResult<Res, E>>,
{
    type Response = ();
    type Error = E;
    type Future = BatchFnFuture<Fut, Res>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, batch: Batch<Req, Res>) -> Self::Future {
        let (requests, responders) = batch.unzip();
        BatchFnFuture {
            results: (self.f)(requests),
            responders,
        }
    }
}

impl<F> fmt::Debug for BatchFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchFn").finish_non_exhaustive()
    }
}

// === impl BatchFnFuture ===

impl<Fut, Res, E> Future for BatchFnFuture<Fut, Res>
where
    Fut: Future<Output = BatchResult<Res, E>>,
{
    type Output = Result<(), E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let results = ready!(this.results.poll(cx))?;
        let missing = MissingResult::new(this.responders.len(), results.len());
        let mut results = results.into_iter();
        for responder in this.responders.drain(..) {
            let result = results.next().unwrap_or_else(|| Err(Box::new(missing)));
            responder.send(result);
        }
        Poll::Ready(Ok(()))
    }
}

impl<Fut, Res> fmt::Debug for BatchFnFuture<Fut, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchFnFuture")
            .field("unanswered", &self.responders.len())
            .finish_non_exhaustive()
    }
}
