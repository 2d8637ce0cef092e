//! What a stub costs and says by default.

use std::time::Duration;

/// The cost model and the shape of the answers, where the model's name does not say otherwise.
///
/// A call of `items` prompts is answered, or streams its first token, after `per_call + items * per_item`. Calls do not wait
/// for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub(super) per_call: Duration,
    pub(super) per_item: Duration,
    pub(super) pace: Duration,
    pub(super) tokens: Option<u32>,
    pub(super) dimensions: usize,
}

// === impl Settings ===

impl Settings {
    /// The cost of a call, whatever its size: 12 ms by default.
    #[must_use]
    pub const fn per_call(mut self, cost: Duration) -> Self {
        self.per_call = cost;
        self
    }

    /// The cost of a prompt: 3 ms by default.
    #[must_use]
    pub const fn per_item(mut self, cost: Duration) -> Self {
        self.per_item = cost;
        self
    }

    /// The time between two tokens of a stream: 5 ms by default.
    #[must_use]
    pub const fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// The natural length of every answer, in tokens. By default it depends on the prompt: 12 to 20.
    #[must_use]
    pub const fn tokens(mut self, tokens: u32) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// The dimensions of an embedding: 384 by default.
    #[must_use]
    pub const fn dimensions(mut self, dimensions: usize) -> Self {
        self.dimensions = dimensions;
        self
    }

    /// A stub that answers at once, whole streams included.
    #[must_use]
    pub const fn instant() -> Self {
        Self::new()
            .per_call(Duration::ZERO)
            .per_item(Duration::ZERO)
            .pace(Duration::ZERO)
    }

    const fn new() -> Self {
        Self {
            per_call: Duration::from_millis(12),
            per_item: Duration::from_millis(3),
            pace: Duration::from_millis(5),
            tokens: None,
            dimensions: 384,
        }
    }

    /// What a call of so many prompts costs.
    pub(super) fn cost(&self, items: usize) -> Duration {
        let items = u32::try_from(items).unwrap_or(u32::MAX);
        self.per_call
            .saturating_add(self.per_item.saturating_mul(items))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}
