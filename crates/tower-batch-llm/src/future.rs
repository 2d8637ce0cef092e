//! Futures of this crate.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::sync::{mpsc, oneshot};
use tower::BoxError;

use crate::error::Unanswered;

pub use crate::adapter::{BatchFnFuture, PerItemFuture};

/// Waits for the answer to one item.
///
/// Dropping it cancels the item: while it waits for its batch, it is taken out and its queue slot
/// is free; when its batch is running, its [`Responder`](crate::Responder) sees it, and the call
/// is dropped if nobody else waits for it.
#[must_use = "futures do nothing unless you poll them; dropping one cancels its item"]
pub struct ResponseFuture<Res> {
    state: State<Res>,
}

enum State<Res> {
    Waiting {
        // Each is `None` once its sender has gone without a word.
        answer: Option<oneshot::Receiver<Result<Res, BoxError>>>,
        verdict: Option<oneshot::Receiver<BoxError>>,
        leave: mpsc::UnboundedSender<()>,
    },
    Refused(BoxError),
    Done,
}

// === impl ResponseFuture ===

impl<Res> ResponseFuture<Res> {
    pub(crate) fn waiting(
        answer: oneshot::Receiver<Result<Res, BoxError>>,
        verdict: oneshot::Receiver<BoxError>,
        leave: mpsc::UnboundedSender<()>,
    ) -> Self {
        Self {
            state: State::Waiting {
                answer: Some(answer),
                verdict: Some(verdict),
                leave,
            },
        }
    }

    pub(crate) fn refused(error: impl Into<BoxError>) -> Self {
        Self {
            state: State::Refused(error.into()),
        }
    }
}

// Nothing in it is ever pinned: the receivers are `Unpin`, an answer is only moved.
impl<Res> Unpin for ResponseFuture<Res> {}

impl<Res> Future for ResponseFuture<Res> {
    type Output = Result<Res, BoxError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let State::Waiting {
            answer, verdict, ..
        } = &mut self.state
        else {
            return match std::mem::replace(&mut self.state, State::Done) {
                State::Refused(error) => Poll::Ready(Err(error)),
                _ => Poll::Ready(Err(Unanswered::new().into())),
            };
        };

        // Correctness: the answer first, so that it wins over a call that fails after giving it.
        // A channel that closed silently is not polled again; when both have, no answer can come.
        // Otherwise at least one of the two has our waker.
        let result = match poll_open(answer, cx) {
            Some(result) => result,
            None => match poll_open(verdict, cx) {
                Some(error) => Err(error),
                None if answer.is_some() || verdict.is_some() => return Poll::Pending,
                None => Err(Unanswered::new().into()),
            },
        };
        self.state = State::Done;
        Poll::Ready(result)
    }
}

impl<Res> Drop for ResponseFuture<Res> {
    fn drop(&mut self) {
        if let State::Waiting {
            answer,
            verdict,
            leave,
        } = &mut self.state
        {
            // Correctness: closed before the worker is told, so that it finds the item gone.
            if let Some(answer) = answer {
                answer.close();
            }
            if let Some(verdict) = verdict {
                verdict.close();
            }
            // Nobody listens when the worker has ended: then there is nothing to take out.
            let _ = leave.send(());
        }
    }
}

impl<Res> fmt::Debug for ResponseFuture<Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Waiting { .. } => "waiting",
            State::Refused(_) => "refused",
            State::Done => "done",
        };
        f.debug_struct("ResponseFuture")
            .field("state", &state)
            .finish()
    }
}

/// What came through the channel, if anything; forgets a channel that closed without a value.
fn poll_open<T>(channel: &mut Option<oneshot::Receiver<T>>, cx: &mut Context<'_>) -> Option<T> {
    match Pin::new(channel.as_mut()?).poll(cx) {
        Poll::Ready(Ok(value)) => Some(value),
        Poll::Ready(Err(_)) => {
            *channel = None;
            None
        }
        Poll::Pending => None,
    }
}
