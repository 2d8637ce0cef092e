use std::task::Waker;

/// Wakers in the order in which their owners began to wait.
///
/// A ticket is a number that only grows, so the queue is sorted by it and a leaving waiter is found by binary search. Its
/// place is emptied, and the queue is compacted once more than half of it is empty: any number of waiters may come and
/// go in one long flight.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    queue: Vec<(u64, Option<Waker>)>,
    next: u64,
    gone: usize,
}

/// Wakers that were taken out of a queue, to be woken after its lock is released. Keeps its memory for the next time.
#[derive(Debug, Default)]
pub(crate) struct Batch(Vec<(u64, Option<Waker>)>);

// === impl Waiters ===

impl Waiters {
    /// Whether the waiter of `ticket` would be woken by `waker` as things stand.
    pub(crate) fn holds(&self, ticket: Option<u64>, waker: &Waker) -> bool {
        let Some(at) = self.find(ticket) else {
            return false;
        };
        matches!(self.queue.get(at), Some((_, Some(held))) if held.will_wake(waker))
    }

    /// Puts `waker` in the place of `ticket`, or at the end with a new ticket. Returns what it displaced, to be dropped
    /// outside the lock.
    pub(crate) fn put(&mut self, ticket: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        if let Some(at) = self.find(*ticket)
            && let Some((_, held)) = self.queue.get_mut(at)
        {
            return held.replace(waker);
        }
        *ticket = Some(self.next);
        self.queue.push((self.next, Some(waker)));
        self.next += 1;
        None
    }

    /// Forgets a waiter. Returns its waker, to be dropped outside the lock.
    pub(crate) fn remove(&mut self, ticket: Option<u64>) -> Option<Waker> {
        let at = self.find(ticket)?;
        let waker = self.queue.get_mut(at)?.1.take()?;
        self.gone += 1;
        if self.gone * 2 > self.queue.len() {
            self.queue.retain(|(_, held)| held.is_some());
            self.gone = 0;
        }
        Some(waker)
    }

    /// Moves everybody into `batch`, which must be empty.
    pub(crate) fn take(&mut self, batch: &mut Batch) {
        std::mem::swap(&mut self.queue, &mut batch.0);
        self.gone = 0;
    }

    fn find(&self, ticket: Option<u64>) -> Option<usize> {
        let ticket = ticket?;
        self.queue
            .binary_search_by_key(&ticket, |(held, _)| *held)
            .ok()
    }
}

// === impl Batch ===

impl Batch {
    /// Wakes everybody, first come first woken. One waker that panics does not keep the others asleep.
    pub(crate) fn wake(&mut self) {
        struct Rest<'a>(std::vec::Drain<'a, (u64, Option<Waker>)>);
        impl Drop for Rest<'_> {
            fn drop(&mut self) {
                self.0
                    .by_ref()
                    .filter_map(|(_, waker)| waker)
                    .for_each(Waker::wake);
            }
        }
        drop(Rest(self.0.drain(..)));
    }
}

#[cfg(all(test, not(tower_coalesce_loom)))]
mod tests {
    use std::sync::Arc;
    use std::task::Wake;

    use parking_lot::Mutex;

    use super::*;

    struct Note(usize, Arc<Mutex<Vec<usize>>>);

    impl Wake for Note {
        fn wake(self: Arc<Self>) {
            self.1.lock().push(self.0);
        }
    }

    #[test]
    fn wakes_in_the_order_of_arrival_and_skips_the_gone() {
        let woken = Arc::default();
        let mut waiters = Waiters::default();
        let mut tickets = Vec::new();
        for n in 0..100 {
            let mut ticket = None;
            waiters.put(&mut ticket, Arc::new(Note(n, Arc::clone(&woken))).into());
            tickets.push(ticket);
        }
        for (_, ticket) in tickets.iter().enumerate().filter(|(n, _)| n % 3 != 0) {
            assert!(waiters.remove(*ticket).is_some());
            assert!(waiters.remove(*ticket).is_none());
        }
        // A new waker in an old place keeps the place.
        let mut ticket = tickets[30];
        let woken_by = Arc::new(Note(1_030, Arc::clone(&woken))).into();
        assert!(waiters.put(&mut ticket, woken_by).is_some());
        let mut batch = Batch::default();
        waiters.take(&mut batch);
        batch.wake();
        let expected: Vec<_> = (0..100)
            .filter(|n| n % 3 == 0)
            .map(|n| if n == 30 { 1_030 } else { n })
            .collect();
        assert_eq!(*woken.lock(), expected);
    }

    #[test]
    fn a_queue_that_many_pass_through_stays_small() {
        let mut waiters = Waiters::default();
        for _ in 0..10_000 {
            let mut ticket = None;
            waiters.put(&mut ticket, Waker::noop().clone());
            waiters.remove(ticket);
        }
        assert!(waiters.queue.is_empty());
        assert!(waiters.queue.capacity() < 16);
    }
}
