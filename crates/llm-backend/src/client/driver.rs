//! Who drives a connection.

use std::fmt;
use std::mem;
use std::task::{Context, Poll, Waker};

use tokio::task::AbortHandle;

use super::connection::Connection;
use super::pool::Pool;

/// How often a connection is polled in a row.
const ROUNDS: usize = 4;

/// Who drives a connection that is in use. Dropping it closes the connection.
pub(super) enum Driver {
    /// Whoever waits for the answer. It costs no task, and no wake-up of one task by another.
    Caller(Box<Connection>),
    /// A task, where the request may still be on its way while its answer is read: neither must wait for the other.
    Task(Leash),
    /// Nobody: it is closed, or somebody else's.
    Nobody,
}

/// Stops a task when it is dropped.
pub(super) struct Leash(Option<AbortHandle>);

// === impl Driver ===

impl Driver {
    /// A task for a connection that was given a request whose body is still to come. At the end it puts it into the `pool`.
    pub(super) fn task(mut connection: Box<Connection>, pool: Pool) -> Self {
        let task = tokio::spawn(async move {
            let sent_and_read = |cx: &mut Context<'_>| match connection.poll(cx) {
                Poll::Ready(()) => Poll::Ready(false),
                Poll::Pending if connection.is_idle() => Poll::Ready(true),
                Poll::Pending => Poll::Pending,
            };
            if std::future::poll_fn(sent_and_read).await {
                pool.put(connection);
            }
        });
        Self::Task(Leash(Some(task.abort_handle())))
    }

    /// Asks for something that the connection is to bring, and drives it.
    pub(super) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut ask: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let Self::Caller(connection) = self else {
            return ask(cx);
        };
        // Correctness: what wakes who asks happens inside of the connection's own poll, so it can be asked with a waker that does
        // nothing, if it is asked again after each poll. The connection need not be polled before its bell rings.
        let asks = &mut Context::from_waker(Waker::noop());
        for _ in 0..ROUNDS {
            if let Poll::Ready(answer) = ask(asks) {
                return Poll::Ready(answer);
            }
            if !connection.rang_or_wakes(cx.waker()) {
                return Poll::Pending;
            }
            if connection.poll_ringing().is_ready() {
                // Dropped, it tells all it has left to tell.
                *self = Self::Nobody;
                return ask(cx);
            }
        }
        // It would go on for ever, or has spent what a task may do at a time: it goes on when the task is polled again.
        connection.ring();
        cx.waker().wake_by_ref();
        ask(asks)
    }

    /// The answer has been read to its end: puts the connection into the `pool`, if it can be used again.
    pub(super) fn finish(&mut self, pool: &Pool) {
        match mem::replace(self, Self::Nobody) {
            Self::Caller(connection) => pool.put(connection),
            // It goes on until the request has been sent too, and puts the connection there itself.
            Self::Task(mut leash) => drop(leash.0.take()),
            Self::Nobody => {}
        }
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Caller(_) => "Caller",
            Self::Task(_) => "Task",
            Self::Nobody => "Nobody",
        })
    }
}

// === impl Leash ===

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}
