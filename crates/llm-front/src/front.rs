//! The gateway as one service with a name, whatever it is stacked of.

use crate::admin::Reply;
use futures_util::future::BoxFuture;
use http::Request;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// An answer to come.
pub type ReplyFuture = BoxFuture<'static, Result<Reply, Infallible>>;

/// Answers every request; always ready. A clone is one count.
pub struct Front<Q> {
    answer: Arc<dyn Fn(Request<Q>) -> ReplyFuture + Send + Sync>,
}

impl<Q> Front<Q> {
    /// Hides the type of what answers.
    pub(crate) fn new(answer: impl Fn(Request<Q>) -> ReplyFuture + Send + Sync + 'static) -> Self {
        Self {
            answer: Arc::new(answer),
        }
    }
}

impl<Q> Clone for Front<Q> {
    fn clone(&self) -> Self {
        Self {
            answer: self.answer.clone(),
        }
    }
}

impl<Q> Service<Request<Q>> for Front<Q> {
    type Response = Reply;
    type Error = Infallible;
    type Future = ReplyFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> ReplyFuture {
        (self.answer)(request)
    }
}

impl<Q> fmt::Debug for Front<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Front").finish_non_exhaustive()
    }
}
