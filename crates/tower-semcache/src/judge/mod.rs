//! Whether two answers say the same: off the path, and after the caller has its own.
//!
//! A judge is a tower service from a [`Comparison`] to a [`Judgement`](crate::bounded::Judgement): time limits, concurrency
//! limits and retries stack on it. An error is an audit that failed, which counts as a wrong answer
//! found; so a judge that cannot tell should err rather than guess.
//!
//! A judge should not be made of what matched the two requests. An embedder that takes "5 km" for
//! "6 km" in a question takes it for the same in an answer.

mod equal;
mod similar;

use std::fmt;
use std::sync::Arc;

use crate::cache::Hit;

pub use equal::{Equal, NoText, normalise};
pub use similar::{Judging, NoDirection, Similar};

/// Two answers to compare: a stored one, and a fresh one to the request it might have served.
pub struct Comparison<V> {
    asked: Arc<str>,
    stored: Hit<V>,
    fresh: Hit<V>,
    /// In place of the fresh answer: another one to the same request.
    again: Option<V>,
}

// === impl Comparison ===

impl<V> Comparison<V> {
    pub(crate) const fn new(asked: Arc<str>, stored: Hit<V>, fresh: Hit<V>) -> Self {
        Self {
            asked,
            stored,
            fresh,
            again: None,
        }
    }

    /// With another fresh answer to the same request.
    pub(crate) fn with(mut self, again: V) -> Self {
        self.again = Some(again);
        self
    }

    /// The text that was asked.
    #[must_use]
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// The text whose answer is stored.
    #[must_use]
    pub fn stored_for(&self) -> &str {
        self.stored.text().unwrap_or_default()
    }

    /// The stored answer.
    #[must_use]
    pub fn stored(&self) -> &V {
        self.stored.value()
    }

    /// The fresh answer to what was asked.
    #[must_use]
    pub fn fresh(&self) -> &V {
        self.again.as_ref().unwrap_or_else(|| self.fresh.value())
    }
}

impl<V> fmt::Debug for Comparison<V> {
    /// Shows no text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Comparison").finish_non_exhaustive()
    }
}
