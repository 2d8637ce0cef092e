use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::BoxError;
use tower::util::Oneshot;
use tower_service::Service;

use crate::FlightError;
use crate::clock::{Clock, Ring};
use crate::seat::{Outcome, Seat};
use crate::share::Share;
use crate::sync::Order;

pin_project! {
    /// The task of a flight: makes the call, shares the response, runs the drive, and ends the flight, whatever happens.
    pub(crate) struct Leader<S, Req, K, H>
    where
        S: Service<Req>,
        H: Share<S::Response>,
        K: Hash,
        K: Eq,
    {
        // Correctness: fields are dropped in this order, also when the runtime drops the task: first the call or the body, which
        // gives its permits back; then the landing, which frees the key and tells the callers.
        #[pin]
        phase: Phase<Oneshot<S, Req>, H::Drive>,
        #[pin]
        clock: Clock,
        landing: Landing<K, H, H::Shared>,
    }
}

pin_project! {
    #[project = PhaseProj]
    enum Phase<C, D> {
        Calling { #[pin] call: C },
        Driving { #[pin] drive: D },
        Done,
    }
}

/// Ends the flight, once, on every path: a leader that is dropped unfinished has aborted.
struct Landing<K, H, T>
where
    K: Hash + Eq,
{
    seat: Arc<Seat<K, H, T>>,
    landed: fn(&H, &T, Outcome),
    published: bool,
    over: bool,
}

// === impl Leader ===

impl<S, Req, K, H> Leader<S, Req, K, H>
where
    S: Service<Req>,
    H: Share<S::Response>,
    K: Hash + Eq,
{
    pub(crate) fn new(inner: S, request: Req, seat: Arc<Seat<K, H, H::Shared>>) -> Self {
        seat.home.stats.counters().flights_open.up();
        Self {
            phase: Phase::Calling {
                call: Oneshot::new(inner, request),
            },
            clock: Clock::new(),
            landing: Landing {
                seat,
                landed: H::landed,
                published: false,
                over: false,
            },
        }
    }
}

impl<S, Req, K, H> Future for Leader<S, Req, K, H>
where
    S: Service<Req>,
    S::Error: Into<BoxError>,
    H: Share<S::Response>,
    K: Hash + Eq,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let landing = this.landing;
        // Correctness: orders come first, so that a stop is obeyed even if the call is ready as well; they use no tokio
        // resource, so a spent budget does not hide them.
        let mut order = landing.seat.flight.orders(cx.waker());
        let end = loop {
            if order == Order::Stop {
                break Err(FlightError::aborted());
            }
            let step = catch_unwind(AssertUnwindSafe(|| {
                this.phase.as_mut().advance(cx, &landing.seat)
            }));
            match step {
                Ok(Poll::Ready(end)) => break end,
                Ok(Poll::Pending) => {}
                Err(payload) => {
                    // What a panic carries may panic in turn when it is dropped.
                    let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
                    landing.seat.home.stats.counters().panicked.up();
                    break Err(FlightError::panicked());
                }
            }
            landing.publish();
            let drain = match order {
                Order::Drain(limit) => Some(limit),
                Order::Fly | Order::Stop => None,
            };
            let max_age = landing.seat.home.config.max_age;
            match ready!(this.clock.as_mut().poll(cx, max_age, drain)) {
                Ring::Age => {
                    landing.seat.home.stats.counters().too_old.up();
                    break Err(FlightError::too_old());
                }
                // Somebody may have joined in the very moment: then it goes on.
                Ring::Drain => {
                    landing.seat.stop();
                    order = landing.seat.flight.orders(cx.waker());
                }
            }
        };
        // Correctness: what the call holds (permits, a connection) is given back before anybody can hear of the end.
        let _ = catch_unwind(AssertUnwindSafe(|| this.phase.set(Phase::Done)));
        landing.finish(end);
        Poll::Ready(())
    }
}

// === impl Phase ===

impl<S, Req, D> Phase<Oneshot<S, Req>, D>
where
    S: Service<Req>,
    S::Error: Into<BoxError>,
    D: Future<Output = ()>,
{
    fn advance<K, H>(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        seat: &Seat<K, H, H::Shared>,
    ) -> Poll<Outcome>
    where
        H: Share<S::Response, Drive = D>,
    {
        if let PhaseProj::Calling { call } = self.as_mut().project() {
            match ready!(call.poll(cx)) {
                Err(error) => return Poll::Ready(Err(FlightError::new(error))),
                Ok(response) => {
                    let (shared, drive) = seat.home.share.share(response);
                    // The call is dropped here: an inner limit has its permit back before anybody is woken.
                    self.set(Phase::Driving { drive });
                    let _ = seat.shared.set(shared);
                }
            }
        }
        if let PhaseProj::Driving { drive } = self.as_mut().project() {
            ready!(drive.poll(cx));
        }
        Poll::Ready(Ok(()))
    }
}

// === impl Landing ===

impl<K: Hash + Eq, H, T> Landing<K, H, T> {
    /// Tells the callers that there is a response, while the drive goes on.
    fn publish(&mut self) {
        if !self.published && self.seat.shared.get().is_some() {
            self.published = true;
            if self.seat.flight.land(Ok(())) {
                self.seat.desert();
            }
        }
    }

    fn finish(&mut self, end: Outcome) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        let Self { seat, landed, .. } = self;
        // Correctness: the key is free before the end can be seen, by the readers of a body (`landed`) or by those who wait
        // for a response (`close`). A request made by one who saw it starts a new call.
        seat.home.flights.retire(seat);
        seat.home.stats.counters().flights_open.down();
        if let Some(shared) = seat.shared.get() {
            let end = end.clone();
            let _ = catch_unwind(AssertUnwindSafe(|| landed(&seat.home.share, shared, end)));
        }
        seat.flight.close(end);
    }
}

impl<K: Hash + Eq, H, T> Drop for Landing<K, H, T> {
    fn drop(&mut self) {
        self.finish(Err(FlightError::aborted()));
    }
}
