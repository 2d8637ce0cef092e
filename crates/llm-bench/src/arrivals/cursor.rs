//! The numbers of a closed loop.
//!
//! Each connection sends its next request when the answer to the last one is there. The requests are numbered, and the
//! connections share one [`Cursor`], so that together they send each number once, in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The next request of a closed loop; clones share it.
#[derive(Clone, Debug)]
pub struct Cursor {
    next: Arc<AtomicUsize>,
    total: usize,
}

impl Cursor {
    /// Over the requests `0..total`.
    #[must_use]
    pub fn new(total: usize) -> Self {
        Self {
            next: Arc::default(),
            total,
        }
    }

    /// Takes the next request's number; none when all have been taken.
    #[must_use]
    pub fn take(&self) -> Option<usize> {
        // Only the number is shared, so no ordering with other memory is needed.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.total).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_numbers_and_each_is_taken_once() {
        let cursor = Cursor::new(1000);
        let mut taken: Vec<usize> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|_| {
                    let cursor = cursor.clone();
                    scope.spawn(move || std::iter::from_fn(|| cursor.take()).collect::<Vec<_>>())
                })
                .collect();
            workers
                .into_iter()
                .flat_map(|worker| worker.join().unwrap())
                .collect()
        });
        taken.sort_unstable();
        assert_eq!(taken, (0..1000).collect::<Vec<_>>());
        assert_eq!(cursor.take(), None);
    }
}
