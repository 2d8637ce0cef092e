//! A flight as the rest of the crate sees it: the core, what is shared, and the way home.

use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::lease::{Lease, Leave};
use crate::share::Rest;
use crate::stats::Stats;
use crate::sync::{Flight, Flights};
use crate::{FlightError, OnAbandon};

pub(crate) type Outcome = Result<(), FlightError>;

/// What a layer is set to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    pub(crate) on_abandon: OnAbandon,
    pub(crate) max_flights: usize,
    pub(crate) max_age: Duration,
}

/// The map of flights with all that a flight needs to know. `T` is the `Shared` of the `Share` `H`.
pub(crate) struct Home<K, H, T> {
    pub(crate) flights: Flights<K, Outcome, Seat<K, H, T>>,
    pub(crate) share: H,
    pub(crate) config: Config,
    pub(crate) stats: Stats,
    /// `H::deserted`, as a pointer, so that a flight need not know the type of the response.
    pub(crate) deserted: fn(&H, &T, OnAbandon) -> Rest,
}

pub(crate) struct Seat<K, H, T> {
    pub(crate) flight: Flight<K, Outcome>,
    pub(crate) shared: OnceLock<T>,
    pub(crate) home: Arc<Home<K, H, T>>,
}

/// A caller that waits for the outcome. Dropping it is leaving.
pub(crate) struct Waiter<K, H, T>
where
    K: Hash + Eq,
{
    seat: Option<Arc<Seat<K, H, T>>>,
    ticket: Option<u64>,
}

/// A caller that has the outcome: its seat, and the lease on it.
type Boarded<K, H, T> = (Arc<Seat<K, H, T>>, Lease);

// === impl Seat ===

impl<K, H, T> AsRef<Flight<K, Outcome>> for Seat<K, H, T> {
    fn as_ref(&self) -> &Flight<K, Outcome> {
        &self.flight
    }
}

impl<K, H, T> Seat<K, H, T> {
    pub(crate) fn new(flight: Flight<K, Outcome>, home: Arc<Home<K, H, T>>) -> Self {
        Self {
            flight,
            shared: OnceLock::new(),
            home,
        }
    }
}

impl<K: Hash + Eq, H, T> Seat<K, H, T> {
    /// Nobody is in the flight: does what is to be done then. May be called more than once, and when somebody has come
    /// meanwhile.
    pub(crate) fn desert(&self) {
        let Home {
            share,
            config,
            deserted,
            ..
        } = &*self.home;
        let rest = self.shared.get().map_or(Rest::Stop, |shared| {
            catch_unwind(AssertUnwindSafe(|| {
                deserted(share, shared, config.on_abandon)
            }))
            .unwrap_or(Rest::Stop)
        });
        match (config.on_abandon, rest) {
            (OnAbandon::Finish, _) => {}
            (OnAbandon::Cancel, Rest::Drain(limit)) => self.flight.drain_if_deserted(limit),
            (OnAbandon::Cancel, Rest::Stop) => self.stop(),
        }
    }

    /// Stops the flight if nobody is in it.
    pub(crate) fn stop(&self) {
        if self.home.flights.stop_if_deserted(self) {
            self.home.stats.counters().abandoned.up();
        }
    }
}

impl<K, H, T> Leave for Seat<K, H, T>
where
    K: Hash + Eq + Send + Sync,
    H: Send + Sync,
    T: Send + Sync,
{
    fn leave(&self) {
        if self.flight.leave(None) {
            self.desert();
        }
    }

    fn count_lagged(&self) {
        self.home.stats.counters().lagged.up();
    }

    #[cfg(feature = "http")]
    fn is_last(&self) -> bool {
        self.flight.is_last()
    }
}

// === impl Waiter ===

impl<K: Hash + Eq, H, T> Waiter<K, H, T> {
    /// Takes over a lease that was counted when the seat was taken.
    pub(crate) fn new(seat: Arc<Seat<K, H, T>>) -> Self {
        Self {
            seat: Some(seat),
            ticket: None,
        }
    }

    pub(crate) fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        match &self.seat {
            Some(seat) => seat.flight.poll_outcome(&mut self.ticket, cx.waker()),
            None => Poll::Ready(Err(FlightError::aborted())),
        }
    }
}

impl<K, H, T> Waiter<K, H, T>
where
    K: Hash + Eq + Send + Sync + 'static,
    H: Send + Sync + 'static,
    T: Send + Sync + 'static,
{
    /// Goes on from waiting to having, with the same lease.
    pub(crate) fn into_lease(mut self) -> Option<Boarded<K, H, T>> {
        let seat = self.seat.take()?;
        // The place among the waiters needs no care: the outcome is there, so all of them were taken.
        let lease = Lease::new(Arc::clone(&seat) as Arc<dyn Leave>);
        Some((seat, lease))
    }
}

impl<K: Hash + Eq, H, T> Drop for Waiter<K, H, T> {
    fn drop(&mut self) {
        if let Some(seat) = self.seat.take()
            && seat.flight.leave(self.ticket)
        {
            seat.desert();
        }
    }
}
