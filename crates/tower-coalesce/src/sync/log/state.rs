use std::collections::VecDeque;
use std::task::Waker;

use crate::sync::waiters::Waiters;

/// What the log's lock guards.
#[derive(Debug)]
pub(super) struct State<I, E> {
    pub(super) entries: VecDeque<Entry<I>>,
    /// The index of the first entry that is still held.
    pub(super) base: u64,
    /// How many readers have read everything so far.
    pub(super) at_tip: usize,
    /// Whether the leader's place at the start is still kept for it.
    pub(super) reserved: bool,
    pub(super) readers: usize,
    /// Whether a reader ever was there.
    pub(super) begun: bool,
    /// No reader holds the pump back for now.
    pub(super) lifted: bool,
    /// Nothing but the end is missing.
    pub(super) complete: bool,
    /// No longer joinable: what everybody has read is dropped.
    pub(super) closed: bool,
    /// Weight of everything appended.
    pub(super) total: u64,
    /// How far the fastest reader came.
    pub(super) reached: u64,
    /// What the pump saw at the end, and nobody else yet.
    pub(super) held: Option<Held<I, E>>,
    pub(super) end: Option<Result<(), E>>,
    pub(super) waiters: Waiters,
    pub(super) pump: Option<Waker>,
}

/// The last item, with its weight, and the end.
pub(super) type Held<I, E> = (Option<(I, u64)>, Result<(), E>);

#[derive(Debug)]
pub(super) struct Entry<I> {
    pub(super) item: I,
    pub(super) start: u64,
    pub(super) weight: u64,
    /// How many readers have this as their next.
    pub(super) before: usize,
}

// === impl State ===

impl<I: Clone, E> State<I, E> {
    /// An empty log, with the leader's place kept.
    pub(super) fn new() -> Self {
        Self {
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
        }
    }

    pub(super) fn has_room(&self, window: u64) -> bool {
        // A fastest reader that has read everything always makes room, however small the window.
        self.lifted
            || self.total <= self.reached
            || self.total < self.reached.saturating_add(window)
    }

    pub(super) fn push(&mut self, item: I, weight: u64) {
        let before = std::mem::take(&mut self.at_tip);
        self.entries.push_back(Entry {
            item,
            start: self.total,
            weight,
            before,
        });
        self.total = self.total.saturating_add(weight);
    }

    pub(super) fn read(&mut self, next: u64) -> Option<I> {
        let at = usize::try_from(next.checked_sub(self.base)?).ok()?;
        let entry = self.entries.get_mut(at)?;
        entry.before = entry.before.saturating_sub(1);
        self.reached = self.reached.max(entry.start.saturating_add(entry.weight));
        let item = entry.item.clone();
        self.stand(next + 1);
        Some(item)
    }

    /// Counts a reader whose next item is `next`.
    pub(super) fn stand(&mut self, next: u64) {
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
    pub(super) fn step_off(&mut self, next: u64) {
        let Some(at) = next.checked_sub(self.base) else {
            return;
        };
        let place = usize::try_from(at)
            .ok()
            .and_then(|at| self.entries.get_mut(at));
        let count = place.map_or(&mut self.at_tip, |entry| &mut entry.before);
        *count = count.saturating_sub(1);
    }

    pub(super) fn give_up_reserve(&mut self) {
        if std::mem::take(&mut self.reserved) {
            self.step_off(0);
        }
    }

    pub(super) fn ended_at(&self, next: u64) -> bool {
        matches!(self.end, Some(Ok(())))
            && next.checked_sub(self.base) == u64::try_from(self.entries.len()).ok()
    }

    /// Past the cap, drops what nobody needs, and what only readers a whole cap behind the fastest need. Returns it, to
    /// be dropped outside the lock.
    ///
    /// Nothing is closed before somebody could have joined: the first reader finds the whole log, even if its first item
    /// is past the cap.
    pub(super) fn trim(&mut self, cap: u64, keep: u64) -> Vec<Entry<I>> {
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
