//! What can go wrong with an item, one type a cause.
//!
//! The layer hands out [`BoxError`]; find these types in its chain with
//! `downcast_ref`. None of them ever ends the service: the next item starts afresh, except after
//! [`Closed`].

use std::{any::Any, error::Error, fmt, sync::Arc};

use tower::BoxError;

/// The call of the batch failed: every item that had no answer by then gets this error.
///
/// All items of the batch share one source, which [`Error::source`] returns: the very error that
/// the inner service gave, from its `call` or from its `poll_ready`.
#[derive(Clone, Debug)]
pub struct Failed {
    source: Arc<dyn Error + Send + Sync>,
}

/// Caller's code panicked: the inner service (then for every unanswered item of its batch), or the
/// cost or grouping function (then for the item it looked at).
///
/// The panic's message is kept from [`Display`](fmt::Display), since it may quote a request.
#[derive(Clone, Debug)]
pub struct Panicked {
    message: Arc<str>,
}

/// The inner service dropped the item's [`Responder`](crate::Responder) without an answer and
/// ended its call without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unanswered {
    _private: (),
}

/// A [`batch_fn`](crate::batch_fn()) returned fewer results than it was given items; this item is
/// one of those left over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingResult {
    items: usize,
    results: usize,
}

/// The item alone costs more than a whole batch may, under
/// [`Oversized::Refuse`](crate::Oversized::Refuse).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    cost: u64,
    limit: u64,
}

/// The batcher's worker is gone, because its runtime shut down. Every later use of the service
/// gives this error again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    _private: (),
}

/// `call` came without a `poll_ready` that returned `Ready` before it, so there is no queue slot
/// for the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReady {
    _private: (),
}

// === impl Failed ===

impl Failed {
    pub(crate) fn new(source: BoxError) -> Self {
        Self {
            source: Arc::from(source),
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the batch's call failed")
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

// === impl Panicked ===

impl Panicked {
    pub(crate) fn new(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a value that is not a string");
        Self {
            message: Arc::from(message),
        }
    }

    /// What the panic said. It may quote a request: keep it out of answers and logs.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the batch's call panicked")
    }
}

impl Error for Panicked {}

// === impl Unanswered ===

impl Unanswered {
    pub(crate) const fn new() -> Self {
        Self { _private: () }
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the batch's call ended without an answer to this item")
    }
}

impl Error for Unanswered {}

// === impl MissingResult ===

impl MissingResult {
    pub(crate) const fn new(items: usize, results: usize) -> Self {
        Self { items, results }
    }

    /// How many items the batch had.
    #[must_use]
    pub const fn items(&self) -> usize {
        self.items
    }

    /// How many results came back.
    #[must_use]
    pub const fn results(&self) -> usize {
        self.results
    }
}

impl fmt::Display for MissingResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { items, results } = self;
        write!(f, "{results} results for a batch of {items} items")
    }
}

impl Error for MissingResult {}

// === impl TooLarge ===

impl TooLarge {
    pub(crate) const fn new(cost: u64, limit: u64) -> Self {
        Self { cost, limit }
    }

    /// The cost of the item alone, in the unit of the cost function.
    #[must_use]
    pub const fn cost(&self) -> u64 {
        self.cost
    }

    /// The most a batch may cost.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cost, limit } = self;
        write!(f, "the item costs {cost}, a batch may cost {limit}")
    }
}

impl Error for TooLarge {}

// === impl Closed ===

impl Closed {
    pub(crate) const fn new() -> Self {
        Self { _private: () }
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the batcher's worker is gone")
    }
}

impl Error for Closed {}

// === impl NotReady ===

impl NotReady {
    pub(crate) const fn new() -> Self {
        Self { _private: () }
    }
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the batcher was called without being ready")
    }
}

impl Error for NotReady {}
