use std::task::{Poll, Waker};
use std::time::Duration;

use super::waiters::{Batch, Waiters};
use super::{Hashed, Mutex};

/// One flight: who waits for it, how many callers it has, what its leader is to do, and what came of it.
///
/// `O` is the outcome, cheap to clone. The *pilot* is the task that runs the leader.
#[derive(Debug)]
pub(crate) struct Flight<K, O> {
    id: u64,
    key: Hashed<K>,
    state: Mutex<State<O>>,
}

#[derive(Debug)]
struct State<O> {
    outcome: Option<O>,
    over: bool,
    leases: usize,
    order: Order,
    pilot: Option<Waker>,
    waiters: Waiters,
}

/// What the pilot is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Go on.
    Fly,
    /// Nobody is left, but so little is missing that it may take this long to end.
    Drain(Duration),
    /// Nobody is left: drop everything.
    Stop,
}

// === impl Flight ===

impl<K, O> AsRef<Self> for Flight<K, O> {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl<K, O> Flight<K, O> {
    /// A flight with one caller.
    pub(super) fn new(id: u64, key: Hashed<K>) -> Self {
        let state = State {
            outcome: None,
            over: false,
            leases: 1,
            order: Order::Fly,
            pilot: None,
            waiters: Waiters::default(),
        };
        Self {
            id,
            key,
            state: Mutex::new(state),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn key(&self) -> &Hashed<K> {
        &self.key
    }

    /// One more caller. Only the map calls it, under its own lock: see [`Flight::stop_if_deserted`].
    pub(super) fn board(&self) {
        let mut state = self.state.lock();
        state.leases += 1;
        if let Order::Drain(_) = state.order {
            state.order = Order::Fly;
        }
    }

    /// One caller fewer; `ticket` is its place among the waiters. Returns whether the flight goes on with nobody in it.
    pub(crate) fn leave(&self, ticket: Option<u64>) -> bool {
        let mut state = self.state.lock();
        let waker = state.waiters.remove(ticket);
        state.leases = state.leases.saturating_sub(1);
        let deserted = state.leases == 0 && !state.over;
        drop(state);
        drop(waker);
        deserted
    }

    /// Whether it is over with one caller in it.
    ///
    /// Once so, it stays so until that caller leaves: a flight is out of the map before it is over, and callers board in
    /// the map.
    #[cfg(any(feature = "http", tower_coalesce_loom))]
    pub(crate) fn is_last(&self) -> bool {
        let state = self.state.lock();
        state.over && state.leases == 1
    }

    /// What the pilot is to do. Leaves `waker` behind, to be woken when that changes.
    pub(crate) fn orders(&self, waker: &Waker) -> Order {
        let mut state = self.state.lock();
        if state
            .pilot
            .as_ref()
            .is_some_and(|pilot| pilot.will_wake(waker))
        {
            return state.order;
        }
        drop(state);
        let fresh = waker.clone();
        state = self.state.lock();
        // Correctness: the order is read under the lock that the waker is stored under, so an order given in between is
        // either seen here or wakes.
        let order = state.order;
        let stale = state.pilot.replace(fresh);
        drop(state);
        drop(stale);
        order
    }

    /// Orders a stop, unless somebody is in the flight or it is over. Returns whether it did, and whom to wake.
    ///
    /// The caller holds the map's lock, under which alone callers board, and removes the entry under the same lock: nobody
    /// can join a flight that was told to stop.
    pub(super) fn stop_if_deserted(&self) -> Option<Option<Waker>> {
        let mut state = self.state.lock();
        if state.leases > 0 || state.over || state.order == Order::Stop {
            return None;
        }
        state.order = Order::Stop;
        Some(state.pilot.take())
    }

    /// Gives a flight with nobody in it `limit` to end by itself.
    pub(crate) fn drain_if_deserted(&self, limit: Duration) {
        let mut state = self.state.lock();
        if state.leases > 0 || state.over || state.order != Order::Fly {
            return;
        }
        state.order = Order::Drain(limit);
        let pilot = state.pilot.take();
        drop(state);
        if let Some(pilot) = pilot {
            pilot.wake();
        }
    }

    /// Publishes the outcome of a flight that goes on. Returns whether nobody is there to see it.
    pub(crate) fn land(&self, outcome: O) -> bool {
        self.publish(outcome, false)
    }

    /// Ends the flight. The outcome counts unless one was published before.
    pub(crate) fn close(&self, outcome: O) {
        self.publish(outcome, true);
    }

    fn publish(&self, outcome: O, over: bool) -> bool {
        let mut batch = Batch::default();
        let mut unused = Some(outcome);
        let mut state = self.state.lock();
        if state.outcome.is_none() {
            state.outcome = unused.take();
        }
        state.over |= over;
        state.waiters.take(&mut batch);
        let pilot = if over { state.pilot.take() } else { None };
        let deserted = state.leases == 0;
        drop(state);
        drop((unused, pilot));
        batch.wake();
        deserted
    }
}

impl<K, O: Clone> Flight<K, O> {
    /// Waits for the outcome; `ticket` is the caller's place among the waiters.
    pub(crate) fn poll_outcome(&self, ticket: &mut Option<u64>, waker: &Waker) -> Poll<O> {
        // A first poll is all but sure to wait: its waker is cloned before the lock is taken. One that comes again
        // without need finds its waker in place.
        let mut fresh = ticket.is_none().then(|| waker.clone());
        loop {
            let mut state = self.state.lock();
            if let Some(outcome) = &state.outcome {
                let outcome = outcome.clone();
                drop(state);
                return Poll::Ready(outcome);
            }
            if let Some(fresh) = fresh.take() {
                let stale = state.waiters.put(ticket, fresh);
                drop(state);
                drop(stale);
                return Poll::Pending;
            }
            if state.waiters.holds(*ticket, waker) {
                return Poll::Pending;
            }
            drop(state);
            fresh = Some(waker.clone());
        }
    }
}
