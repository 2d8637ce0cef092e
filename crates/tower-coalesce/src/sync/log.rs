use std::task::{Poll, Waker};

mod state;
#[cfg(all(test, not(tower_coalesce_loom)))]
mod tests;

use self::state::State;
use super::Mutex;
use super::waiters::Batch;

/// An append-only log of items with one writer, the pump, and any number of readers, each of which begins at the start.
///
/// Positions are counted in *weight*: a running total over the items. `E` is the error that may end the log. A reader's
/// place is in its [`Cursor`]; the log only counts how many stand before each item, so that reading costs the same for
/// any number of readers.
#[derive(Debug)]
pub(crate) struct Log<I, E> {
    cap: u64,
    window: u64,
    keep: u64,
    state: Mutex<State<I, E>>,
}

/// Where a reader stands.
#[derive(Debug)]
pub(crate) struct Cursor {
    next: u64,
    ticket: Option<u64>,
    /// The last read gave an item, so that the next one will probably wait.
    ahead: bool,
    /// The log was known to have ended cleanly, with nothing left, when this reader last looked.
    done: bool,
}

/// What a reader reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read<I, E> {
    /// The next item.
    Item(I),
    /// There is none, and will be none.
    End(Result<(), E>),
    /// The next item is no longer held: this reader fell too far behind.
    Lagged,
}

// === impl Cursor ===

impl Cursor {
    /// Whether it is known that nothing is left to read.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }
}

// === impl Log ===

impl<I: Clone, E: Clone> Log<I, E> {
    /// A log that is joinable up to `cap`, whose pump keeps at most `window` ahead of the fastest reader, and that holds
    /// the last `keep` even when everybody has read them.
    pub(crate) fn new(cap: u64, window: u64, keep: u64) -> Self {
        Self {
            cap,
            window,
            keep,
            state: Mutex::new(State::new()),
        }
    }

    // --- the pump ---

    /// Appends an item and wakes the readers that wait. Returns whether there is room for more; `batch` is scratch.
    pub(crate) fn append(&self, item: I, weight: u64, batch: &mut Batch) -> bool {
        let mut state = self.state.lock();
        state.push(item, weight);
        let dropped = state.trim(self.cap, self.keep);
        state.waiters.take(batch);
        let room = state.has_room(self.window);
        drop(state);
        drop(dropped);
        batch.wake();
        room
    }

    /// Whether the pump may read on. If not, leaves its waker behind.
    pub(crate) fn has_room(&self, waker: &Waker) -> bool {
        let mut state = self.state.lock();
        if state.has_room(self.window) {
            return true;
        }
        if state
            .pump
            .as_ref()
            .is_some_and(|pump| pump.will_wake(waker))
        {
            return false;
        }
        drop(state);
        let fresh = waker.clone();
        state = self.state.lock();
        // Correctness: looked at again under the lock that the waker is stored under, so no reader's step is missed.
        let room = state.has_room(self.window);
        let stale = if room {
            Some(fresh)
        } else {
            state.pump.replace(fresh)
        };
        drop(state);
        drop(stale);
        room
    }

    /// The pump has seen the end, and maybe the last item with it. Readers see neither until [`Log::finish`].
    pub(crate) fn hold(&self, last: Option<(I, u64)>, end: Result<(), E>) {
        self.state.lock().held = Some((last, end));
    }

    /// The pump knows that nothing but the end is missing.
    pub(crate) fn complete(&self) {
        self.state.lock().complete = true;
    }

    /// Whether nothing but the end is missing, as far as the pump knows.
    pub(crate) fn is_complete(&self) -> bool {
        self.state.lock().complete
    }

    /// Publishes what is held, or `failure` in its stead. The first end counts.
    pub(crate) fn finish(&self, failure: Option<E>) {
        let mut batch = Batch::default();
        let mut state = self.state.lock();
        let held = state.held.take();
        let mut unused = None;
        if state.end.is_none() {
            match (failure, held) {
                (Some(failure), held) => {
                    state.end = Some(Err(failure));
                    unused = held;
                }
                (None, Some((last, end))) => {
                    if let Some((item, weight)) = last {
                        state.push(item, weight);
                    }
                    state.end = Some(end);
                }
                (None, None) => state.end = Some(Ok(())),
            }
        }
        let dropped = state.trim(self.cap, self.keep);
        state.waiters.take(&mut batch);
        let pump = state.pump.take();
        drop(state);
        drop((unused, dropped, pump));
        batch.wake();
    }

    /// Nobody is there: lets the pump read on without readers, unless one came in the meantime.
    pub(crate) fn lift(&self) {
        let mut state = self.state.lock();
        if state.readers > 0 {
            return;
        }
        state.lifted = true;
        state.give_up_reserve();
        let dropped = state.trim(self.cap, self.keep);
        let pump = state.pump.take();
        drop(state);
        drop(dropped);
        if let Some(pump) = pump {
            pump.wake();
        }
    }

    /// The last items, as far back as they are held, newest last.
    pub(crate) fn tail(&self, items: usize) -> Vec<I> {
        let state = self.state.lock();
        let from = state.entries.len().saturating_sub(items);
        state
            .entries
            .range(from..)
            .map(|entry| entry.item.clone())
            .collect()
    }

    // --- the readers ---

    /// A new reader at the start, or `None` if the log is closed to joiners. The leader is never refused.
    pub(crate) fn open(&self, leader: bool) -> Option<Cursor> {
        let mut state = self.state.lock();
        if leader && state.reserved {
            // Its place was counted from the start; if it fell behind meanwhile, the first read says so.
            state.reserved = false;
        } else if leader || !state.closed {
            state.stand(0);
        } else {
            return None;
        }
        state.readers += 1;
        state.begun = true;
        state.lifted = false;
        let done = state.entries.is_empty() && state.base == 0 && matches!(state.end, Some(Ok(())));
        let dropped = state.trim(self.cap, self.keep);
        drop(state);
        drop(dropped);
        Some(Cursor {
            next: 0,
            ticket: None,
            ahead: false,
            done,
        })
    }

    /// Reads the next item.
    pub(crate) fn poll_next(&self, cursor: &mut Cursor, waker: &Waker) -> Poll<Read<I, E>> {
        // A reader that was just given an item will probably wait now: its waker is cloned before the lock is taken. One
        // that waited was woken, and will probably be given something.
        let mut fresh = std::mem::take(&mut cursor.ahead).then(|| waker.clone());
        let mut state = self.state.lock();
        loop {
            if cursor.next < state.base {
                drop(state);
                return Poll::Ready(Read::Lagged);
            }
            if let Some(item) = state.read(cursor.next) {
                cursor.next += 1;
                cursor.ahead = true;
                cursor.done = state.ended_at(cursor.next);
                let dropped = state.trim(self.cap, self.keep);
                let pump = if state.has_room(self.window) {
                    state.pump.take()
                } else {
                    None
                };
                drop(state);
                drop(dropped);
                if let Some(pump) = pump {
                    pump.wake();
                }
                return Poll::Ready(Read::Item(item));
            }
            if let Some(end) = state.end.clone() {
                cursor.done = end.is_ok();
                drop(state);
                return Poll::Ready(Read::End(end));
            }
            if let Some(fresh) = fresh.take() {
                let stale = state.waiters.put(&mut cursor.ticket, fresh);
                drop(state);
                drop(stale);
                return Poll::Pending;
            }
            if state.waiters.holds(cursor.ticket, waker) {
                return Poll::Pending;
            }
            drop(state);
            fresh = Some(waker.clone());
            state = self.state.lock();
        }
    }

    /// A reader leaves.
    pub(crate) fn close(&self, cursor: &Cursor) {
        let mut state = self.state.lock();
        let waker = state.waiters.remove(cursor.ticket);
        state.readers = state.readers.saturating_sub(1);
        state.step_off(cursor.next);
        let dropped = state.trim(self.cap, self.keep);
        drop(state);
        drop((waker, dropped));
    }
}
