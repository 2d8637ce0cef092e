//! What a batch costs, and the most it may cost.

use std::{collections::vec_deque, fmt, iter::FusedIterator, sync::Arc};

/// The items that already stand in a batch, as a cost function sees them.
pub struct SoFar<'a, Req> {
    requests: vec_deque::Iter<'a, Req>,
    cost: u64,
}

/// What to do with an item that alone costs more than a batch may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Oversized {
    /// It goes alone, in a batch of one.
    #[default]
    Alone,
    /// Its caller gets [`TooLarge`](crate::error::TooLarge), at once.
    Refuse,
}

/// The limit and the function it is measured with.
pub(crate) struct MaxCost<Req> {
    pub(crate) limit: u64,
    pub(crate) cost: Arc<CostFn<Req>>,
}

pub(crate) type CostFn<Req> = dyn Fn(SoFar<'_, Req>, &Req) -> u64 + Send + Sync;

/// A batch costs the sum of what its items cost: `size` of each, in any unit (tokens, say).
///
/// ```
/// use tower_batch_llm::{BatchLayer, cost};
///
/// let layer = BatchLayer::<String, ()>::new(32)
///     .max_cost(16_384, cost::sum(|prompt: &String| prompt.len() as u64));
/// # let _ = layer;
/// ```
pub fn sum<Req>(
    size: impl Fn(&Req) -> u64 + Send + Sync + 'static,
) -> impl Fn(SoFar<'_, Req>, &Req) -> u64 + Send + Sync + 'static {
    move |batch, next| batch.cost().saturating_add(size(next))
}

/// A batch costs what a padded tensor holds: its number of items times its longest item, where
/// `length` gives the length of each, in any unit.
///
/// One long item among short ones is dear, since all of them are padded to its length. The
/// longest so far is `cost / len`, so no item is measured twice.
pub fn padded<Req>(
    length: impl Fn(&Req) -> u64 + Send + Sync + 'static,
) -> impl Fn(SoFar<'_, Req>, &Req) -> u64 + Send + Sync + 'static {
    move |batch, next| {
        let items = batch.len() as u64;
        let longest = batch.cost().checked_div(items).unwrap_or(0);
        (items + 1).saturating_mul(longest.max(length(next)))
    }
}

// === impl SoFar ===

impl<'a, Req> SoFar<'a, Req> {
    pub(crate) fn new(requests: vec_deque::Iter<'a, Req>, cost: u64) -> Self {
        Self { requests, cost }
    }

    /// How many items stand in the batch; 0 before the first.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether the next item would be the first.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the cost function said of the batch so far; 0 before the first item.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// The requests in the batch, in the order of their arrival.
    #[must_use]
    pub fn requests(
        &self,
    ) -> impl DoubleEndedIterator<Item = &'a Req> + ExactSizeIterator + FusedIterator + use<'a, Req>
    {
        self.requests.clone()
    }
}

impl<Req> Clone for SoFar<'_, Req> {
    fn clone(&self) -> Self {
        Self::new(self.requests.clone(), self.cost)
    }
}

impl<Req> fmt::Debug for SoFar<'_, Req> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SoFar")
            .field("len", &self.len())
            .field("cost", &self.cost)
            .finish_non_exhaustive()
    }
}

// === impl MaxCost ===

impl<Req> Clone for MaxCost<Req> {
    fn clone(&self) -> Self {
        Self {
            limit: self.limit,
            cost: Arc::clone(&self.cost),
        }
    }
}

impl<Req> fmt::Debug for MaxCost<Req> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxCost")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::{SoFar, padded, sum};

    /// The cost of each prefix of a batch.
    fn costs(items: &[u64], cost: impl Fn(SoFar<'_, u64>, &u64) -> u64) -> Vec<u64> {
        let items: VecDeque<u64> = items.iter().copied().collect();
        let mut costs = Vec::new();
        for (n, next) in items.iter().enumerate() {
            let so_far = costs.last().copied().unwrap_or(0);
            costs.push(cost(SoFar::new(items.range(..n), so_far), next));
        }
        costs
    }

    #[test]
    fn a_sum_adds_up_and_does_not_overflow() {
        assert_eq!(costs(&[3, 0, 4], sum(|n| *n)), [3, 3, 7]);
        assert_eq!(costs(&[u64::MAX, 5], sum(|n| *n)), [u64::MAX, u64::MAX]);
    }

    #[test]
    fn padding_is_the_number_of_items_times_the_longest() {
        assert_eq!(costs(&[3, 2, 5, 4], padded(|n| *n)), [3, 6, 15, 20]);
        assert_eq!(costs(&[0, 0, 7], padded(|n| *n)), [0, 0, 21]);
        assert_eq!(costs(&[u64::MAX, 5], padded(|n| *n)), [u64::MAX, u64::MAX]);
    }
}
