//! The seats of one call in an engine.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::time::{Sleep, sleep_until};

use super::engine::{Inner, Token};

/// One sequence for each answer of a call. Dropped, it gives up what is not done.
#[derive(Debug)]
pub(super) struct Seats {
    engine: Arc<Inner>,
    /// Each with the tokens it will have.
    sequences: Vec<(u64, u32)>,
    sleep: Option<Pin<Box<Sleep>>>,
}

/// The server has no memory for a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused;

// === impl Seats ===

impl Seats {
    pub(super) fn new(engine: Arc<Inner>, sequences: Vec<(u64, u32)>) -> Self {
        Self {
            engine,
            sequences,
            sleep: None,
        }
    }

    /// Ready when token number `step`, or the last one where there are fewer, of every answer is out.
    pub(super) fn poll_step(
        &mut self,
        step: u32,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Refused>> {
        for &(id, tokens) in &self.sequences {
            let wanted = tokens.min(step.saturating_add(1));
            loop {
                let at = match self.engine.look(id, wanted) {
                    Token::Out => break,
                    Token::Refused => return Poll::Ready(Err(Refused)),
                    Token::NotBefore(Some(at)) => at,
                    // A server with work has something to do next: this one has lost it.
                    Token::NotBefore(None) => return Poll::Ready(Err(Refused)),
                };
                let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(at)));
                if sleep.deadline() != at {
                    sleep.as_mut().reset(at);
                }
                ready!(sleep.as_mut().poll(cx));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        for (id, _) in &self.sequences {
            self.engine.leave(*id);
        }
    }
}
