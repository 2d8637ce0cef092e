//! Who may send next.

use super::{Load, Pacing, Stop};
use crate::clock::Stamp;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A request that may be sent now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) number: usize,
    pub(super) due: Stamp,
    pub(super) free: Stamp,
    pub(super) by: By,
}

/// Who decides when a request is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum By {
    /// The schedule: whatever happens then is late.
    Schedule,
    /// The worker: what it asks next has no time before it is made. How long that took is the load generator's lag, and no
    /// caller's waiting.
    Worker,
}

impl Ticket {
    /// Of a worker, at `moment` at the earliest.
    pub(super) const fn of_worker(number: usize, moment: Stamp) -> Self {
        Self {
            number,
            due: moment,
            free: moment,
            by: By::Worker,
        }
    }

    /// The request has been made, at `now`.
    #[must_use]
    pub(super) fn made(mut self, now: Stamp) -> Self {
        if self.by == By::Worker {
            self.due = self.due.max(now);
        }
        self
    }
}

/// Hands out requests: at most so many are in flight, the others wait in order.
#[derive(Debug)]
pub(super) struct Floor {
    cap: usize,
    closed: Option<Closed>,
    state: Mutex<State>,
    sent: AtomicU64,
}

#[derive(Debug)]
struct Closed {
    count: Option<usize>,
    end: Option<Stamp>,
    think: Duration,
    stop: Stop,
}

#[derive(Debug, Default)]
struct State {
    in_flight: usize,
    /// Of an open loop: numbers and times of requests that are due and have no place. Bounded by the schedule's length.
    waiting: VecDeque<(usize, Stamp)>,
    /// Of a closed loop.
    next: usize,
}

impl Floor {
    pub(super) fn new(load: &Load, start: Stamp) -> Self {
        let closed = match &load.pacing {
            Pacing::Open(_) => None,
            Pacing::Closed { count, think } => Some(Closed {
                count: *count,
                end: load.duration.map(|duration| start + duration),
                think: *think,
                stop: load.stop.clone(),
            }),
        };
        Self {
            cap: load.cap.unwrap_or(usize::MAX),
            closed,
            state: Mutex::default(),
            sent: AtomicU64::new(0),
        }
    }

    /// A request of the schedule is due. It may be sent now, or waits for a place.
    pub(super) fn due(&self, number: usize, due: Stamp) -> Option<Ticket> {
        let mut state = self.state.lock();
        if state.in_flight < self.cap {
            state.in_flight += 1;
            return Some(Ticket {
                number,
                due,
                free: due,
                by: By::Schedule,
            });
        }
        state.waiting.push_back((number, due));
        None
    }

    /// The first request of one of a closed loop's workers.
    pub(super) fn begin(&self, now: Stamp) -> Option<Ticket> {
        let mut state = self.state.lock();
        let ticket = self.next_closed(&mut state, now)?;
        state.in_flight += 1;
        Some(ticket)
    }

    /// A place has become free at `now`: who takes it, if anybody.
    pub(super) fn next(&self, now: Stamp) -> Option<Ticket> {
        let mut state = self.state.lock();
        let next = match &self.closed {
            Some(closed) => self.next_closed(&mut state, now + closed.think),
            None => state.waiting.pop_front().map(|(number, due)| Ticket {
                number,
                due,
                free: now,
                by: By::Schedule,
            }),
        };
        if next.is_none() {
            state.in_flight -= 1;
        }
        next
    }

    /// In a closed loop a request is due when there is a place for it.
    fn next_closed(&self, state: &mut State, due: Stamp) -> Option<Ticket> {
        let closed = self.closed.as_ref()?;
        let over = closed.count.is_some_and(|count| state.next >= count)
            || closed.end.is_some_and(|end| due >= end)
            || closed.stop.is_stopped();
        if over {
            return None;
        }
        let number = state.next;
        state.next += 1;
        Some(Ticket::of_worker(number, due))
    }

    /// Requests that wait for a place are not sent any more.
    pub(super) fn forget_waiting(&self) -> usize {
        let mut state = self.state.lock();
        let forgotten = state.waiting.len();
        state.waiting.clear();
        forgotten
    }

    pub(super) fn think(&self) -> Duration {
        self.closed
            .as_ref()
            .map_or(Duration::ZERO, |closed| closed.think)
    }

    pub(super) fn count_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub(super) fn in_flight(&self) -> usize {
        self.state.lock().in_flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Lengths, Random};
    use std::sync::Arc;

    fn floor(pacing: Pacing, cap: usize, start: Stamp) -> Floor {
        let lengths = Lengths {
            input: 1,
            output: 1,
            range_ratio: 0.0,
            prefix: 0,
        };
        let random = Random {
            lengths,
            batch: 1,
            seed: 0,
        };
        let load = Load::new(Vec::new(), Arc::new(random), pacing)
            .cap(cap)
            .duration(Duration::from_secs(1));
        Floor::new(&load, start)
    }

    #[test]
    fn a_request_over_the_cap_waits_and_keeps_its_due_time() {
        let start = Stamp::now();
        let floor = floor(Pacing::Open(Vec::new()), 1, start);
        assert_eq!(floor.due(0, start).map(|ticket| ticket.number), Some(0));
        assert!(floor.due(1, start + Duration::from_millis(1)).is_none());
        let later = start + Duration::from_millis(5);
        let ticket = floor.next(later).unwrap();
        assert_eq!(
            (ticket.number, ticket.due, ticket.free),
            (1, start + Duration::from_millis(1), later)
        );
        assert!(floor.next(later).is_none());
        assert_eq!(floor.in_flight(), 0);
    }

    #[test]
    fn in_a_closed_loop_a_request_is_due_when_there_is_a_place() {
        let start = Stamp::now();
        let closed = Pacing::Closed {
            count: Some(3),
            think: Duration::from_millis(2),
        };
        let floor = floor(closed, 1, start);
        assert_eq!(floor.begin(start).unwrap().due, start);
        let answered = start + Duration::from_millis(7);
        assert_eq!(
            floor.next(answered).unwrap().due,
            answered + Duration::from_millis(2)
        );
        assert_eq!(floor.next(answered).unwrap().number, 2);
        assert!(floor.next(answered).is_none(), "three were asked for");
    }

    #[test]
    fn what_a_worker_asks_is_due_once_it_is_made_and_a_schedule_waits_for_nobody() {
        let start = Stamp::now();
        let made = start + Duration::from_millis(3);
        let of_worker = Ticket::of_worker(0, start).made(made);
        assert_eq!((of_worker.due, of_worker.free), (made, start));
        let scheduled = Ticket {
            by: By::Schedule,
            ..Ticket::of_worker(0, start)
        };
        assert_eq!(scheduled.made(made).due, start);
    }

    #[test]
    fn a_closed_loop_ends_with_its_duration() {
        let start = Stamp::now();
        let closed = Pacing::Closed {
            count: None,
            think: Duration::ZERO,
        };
        let floor = floor(closed, 1, start);
        assert!(floor.begin(start).is_some());
        assert!(floor.next(start + Duration::from_millis(999)).is_some());
        assert!(floor.next(start + Duration::from_secs(1)).is_none());
    }
}
