use std::collections::VecDeque;
use std::task::{Poll, Waker};

use super::Mutex;
use super::waiters::{Batch, Waiters};

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

#[derive(Debug)]
struct State<I, E> {
    entries: VecDeque<Entry<I>>,
    /// The index of the first entry that is still held.
    base: u64,
    /// How many readers have read everything so far.
    at_tip: usize,
    /// Whether the leader's place at the start is still kept for it.
    reserved: bool,
    readers: usize,
    /// Whether a reader ever was there.
    begun: bool,
    /// No reader holds the pump back for now.
    lifted: bool,
    /// Nothing but the end is missing.
    complete: bool,
    /// No longer joinable: what everybody has read is dropped.
    closed: bool,
    /// Weight of everything appended.
    total: u64,
    /// How far the fastest reader came.
    reached: u64,
    /// What the pump saw at the end, and nobody else yet.
    held: Option<Held<I, E>>,
    end: Option<Result<(), E>>,
    waiters: Waiters,
    pump: Option<Waker>,
}

/// The last item, with its weight, and the end.
type Held<I, E> = (Option<(I, u64)>, Result<(), E>);

#[derive(Debug)]
struct Entry<I> {
    item: I,
    start: u64,
    weight: u64,
    /// How many readers have this as their next.
    before: usize,
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
        let state = State {
            entries: VecDeque::new(),
            base: 0,
            at_tip: 1,
            reserved: true,
            readers: 0,
            begun: false,
            lifted: false,
            complete: false,
            closed: false,
            total: 0,
            reached: 0,
            held: None,
            end: None,
            waiters: Waiters::default(),
            pump: None,
        };
        Self {
            cap,
            window,
            keep,
            state: Mutex::new(state),
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

// === impl State ===

impl<I: Clone, E> State<I, E> {
    fn has_room(&self, window: u64) -> bool {
        // A fastest reader that has read everything always makes room, however small the window.
        self.lifted
            || self.total <= self.reached
            || self.total < self.reached.saturating_add(window)
    }

    fn push(&mut self, item: I, weight: u64) {
        let before = std::mem::take(&mut self.at_tip);
        self.entries.push_back(Entry {
            item,
            start: self.total,
            weight,
            before,
        });
        self.total = self.total.saturating_add(weight);
    }

    fn read(&mut self, next: u64) -> Option<I> {
        let at = usize::try_from(next.checked_sub(self.base)?).ok()?;
        let entry = self.entries.get_mut(at)?;
        entry.before = entry.before.saturating_sub(1);
        self.reached = self.reached.max(entry.start.saturating_add(entry.weight));
        let item = entry.item.clone();
        self.stand(next + 1);
        Some(item)
    }

    /// Counts a reader whose next item is `next`.
    fn stand(&mut self, next: u64) {
        let Some(at) = next.checked_sub(self.base) else {
            return;
        };
        match usize::try_from(at)
            .ok()
            .and_then(|at| self.entries.get_mut(at))
        {
            Some(entry) => entry.before += 1,
            None => self.at_tip += 1,
        }
    }

    /// Undoes [`State::stand`], unless the reader was overtaken by the trimming.
    fn step_off(&mut self, next: u64) {
        let Some(at) = next.checked_sub(self.base) else {
            return;
        };
        let place = usize::try_from(at)
            .ok()
            .and_then(|at| self.entries.get_mut(at));
        let count = place.map_or(&mut self.at_tip, |entry| &mut entry.before);
        *count = count.saturating_sub(1);
    }

    fn give_up_reserve(&mut self) {
        if std::mem::take(&mut self.reserved) {
            self.step_off(0);
        }
    }

    fn ended_at(&self, next: u64) -> bool {
        matches!(self.end, Some(Ok(())))
            && next.checked_sub(self.base) == u64::try_from(self.entries.len()).ok()
    }

    /// Past the cap, drops what nobody needs, and what only readers a whole cap behind the fastest need. Returns it, to
    /// be dropped outside the lock.
    ///
    /// Nothing is closed before somebody could have joined: the first reader finds the whole log, even if its first item
    /// is past the cap.
    fn trim(&mut self, cap: u64, keep: u64) -> Vec<Entry<I>> {
        self.closed |= self.total > cap && (self.begun || self.lifted);
        let mut dropped = Vec::new();
        while self.closed
            && let Some(first) = self.entries.front()
            && (first.before == 0 || self.reached.saturating_sub(first.start) > cap)
            && self
                .total
                .saturating_sub(first.start.saturating_add(first.weight))
                >= keep
        {
            dropped.extend(self.entries.pop_front());
            self.base += 1;
        }
        dropped
    }
}

#[cfg(all(test, not(tower_coalesce_loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Append(u64),
        Open,
        Read(usize),
        Close(usize),
        Lift,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (1..40_u64).prop_map(Step::Append),
            1 => Just(Step::Open),
            6 => (0..4_usize).prop_map(Step::Read),
            1 => (0..4_usize).prop_map(Step::Close),
            1 => Just(Step::Lift),
        ];
        proptest::collection::vec(step, 0..400)
    }

    proptest! {
        /// Whatever happens in whatever order: a reader reads what was appended, in order and without a gap, or is told that
        /// it lagged, and only if it did; the pump is held back by the window; the log holds no more than it may.
        #[test]
        fn readers_read_what_was_appended_within_the_bounds(
            steps in steps(),
            cap in 0..200_u64,
            window in 0..100_u64,
        ) {
            let log: Log<usize, ()> = Log::new(cap, window, 0);
            let (mut batch, noop) = (Batch::default(), Waker::noop());
            // The starts of all items, and the total.
            let mut starts = vec![0_u64];
            let mut readers: Vec<(Cursor, usize)> = Vec::new();
            let (mut reached, mut lifted, mut leader) = (0_u64, false, true);
            for step in steps {
                let total = *starts.last().unwrap();
                match step {
                    Step::Append(weight) => {
                        let room = log.has_room(noop);
                        let expected = lifted || total <= reached || total < reached + window;
                        prop_assert_eq!(room, expected);
                        if room {
                            log.append(starts.len() - 1, weight, &mut batch);
                            starts.push(total + weight);
                        }
                    }
                    Step::Open => {
                        match log.open(leader) {
                            Some(cursor) => {
                                readers.push((cursor, 0));
                                lifted = false;
                            }
                            None => prop_assert!(total > cap && !leader),
                        }
                        leader = false;
                    }
                    Step::Read(n) => {
                        let Some((cursor, next)) = readers.get_mut(n) else { continue };
                        match log.poll_next(cursor, noop) {
                            Poll::Ready(Read::Item(item)) => {
                                prop_assert_eq!(item, *next);
                                *next += 1;
                                reached = reached.max(starts[*next]);
                            }
                            Poll::Ready(Read::Lagged) => {
                                prop_assert!(reached - starts[*next] > cap || total > cap && *next == 0);
                                log.close(&readers.remove(n).0);
                            }
                            Poll::Ready(Read::End(_)) => prop_assert!(false, "it has no end"),
                            Poll::Pending => prop_assert_eq!(*next + 1, starts.len()),
                        }
                    }
                    Step::Close(n) => {
                        if n < readers.len() {
                            log.close(&readers.remove(n).0);
                        }
                    }
                    Step::Lift => {
                        log.lift();
                        lifted |= readers.is_empty();
                    }
                }
                let state = log.state.lock();
                let held: u64 = state.entries.iter().map(|entry| entry.weight).sum();
                prop_assert!(held <= cap + window.max(1) + 40 + 40, "{} held", held);
                let standing: usize = state.entries.iter().map(|entry| entry.before).sum();
                prop_assert!(standing + state.at_tip <= readers.len() + 1);
            }
        }
    }
}
