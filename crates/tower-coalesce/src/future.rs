use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::BoxError;
use tower::util::Oneshot;
use tower_service::Service;

use crate::error::Overloaded;
use crate::leader::Leader;
use crate::seat::{Home, Waiter};
use crate::sync::{Entered, Hashed};
use crate::{FlightError, Role, Share};

pin_project! {
    /// Response future of [`Coalesce`](crate::Coalesce).
    pub struct ResponseFuture<S, Req, K, H>
    where
        S: Service<Req>,
        H: Share<S::Response>,
        K: Hash,
        K: Eq,
    {
        #[pin]
        state: State<S, Req, K, H, H::Shared>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, Req, K, H, T>
    where
        S: Service<Req>,
        K: Hash,
        K: Eq,
    {
        /// A call of its own.
        Bypass { #[pin] call: Oneshot<S, Req>, share: H },
        Shared { caller: Caller<S, Req, K, H, T> },
        Done,
    }
}

/// A caller on its way into a flight.
enum Caller<S, Req, K, H, T>
where
    K: Hash + Eq,
{
    /// Waits for the outcome of the flight it leads.
    Leader(Waiter<K, H, T>),
    /// Waits for the outcome of somebody else's, with what it needs to lead one if it is refused.
    Follower {
        waiter: Waiter<K, H, T>,
        inner: S,
        request: Req,
    },
    /// Could not get into one.
    Failed(BoxError),
    /// Has had its outcome.
    Gone,
}

// === impl ResponseFuture ===

impl<S, Req, K, H> ResponseFuture<S, Req, K, H>
where
    S: Service<Req> + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    Req: Send + 'static,
    K: Hash + Eq + Clone + Send + Sync + 'static,
    H: Share<S::Response> + Send + Sync + 'static,
{
    pub(crate) fn bypass(inner: S, request: Req, share: H) -> Self {
        Self {
            state: State::Bypass {
                call: Oneshot::new(inner, request),
                share,
            },
        }
    }

    pub(crate) fn shared(
        home: &Arc<Home<K, H, H::Shared>>,
        key: K,
        inner: S,
        request: Req,
    ) -> Self {
        let key = home.flights.hash(key);
        Self {
            state: State::Shared {
                caller: enter(home, key, None, inner, request),
            },
        }
    }
}

impl<S, Req, K, H> Future for ResponseFuture<S, Req, K, H>
where
    S: Service<Req> + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    Req: Send + 'static,
    K: Hash + Eq + Clone + Send + Sync + 'static,
    H: Share<S::Response> + Send + Sync + 'static,
{
    type Output = Result<H::Response, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        let result = match state.as_mut().project() {
            StateProj::Bypass { call, share } => ready!(call.poll(cx))
                .map(|response| share.pass(response))
                .map_err(Into::into),
            StateProj::Shared { caller } => ready!(poll_shared(caller, cx)),
            StateProj::Done => Err(FlightError::aborted().into_error()),
        };
        state.set(State::Done);
        Poll::Ready(result)
    }
}

impl<S, Req, K, H> fmt::Debug for ResponseFuture<S, Req, K, H>
where
    S: Service<Req>,
    H: Share<S::Response>,
    K: Hash + Eq,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

/// Joins the flight of `key`, or starts it.
fn enter<S, Req, K, H>(
    home: &Arc<Home<K, H, H::Shared>>,
    key: Hashed<K>,
    refused: Option<u64>,
    inner: S,
    request: Req,
) -> Caller<S, Req, K, H, H::Shared>
where
    S: Service<Req> + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    Req: Send + 'static,
    K: Hash + Eq + Send + Sync + 'static,
    H: Share<S::Response> + Send + Sync + 'static,
{
    let counters = home.stats.counters();
    let limit = home.config.max_flights;
    let make = |flight| crate::seat::Seat::new(flight, Arc::clone(home));
    match home.flights.enter(key, refused, limit, make) {
        Entered::Join(seat) => {
            counters.followers.up();
            Caller::Follower {
                waiter: Waiter::new(seat),
                inner,
                request,
            }
        }
        Entered::Lead(seat) => {
            counters.leaders.up();
            // Correctness: the waiter and the leader's landing exist before anything can fail, so a spawn that panics (there
            // is no runtime) leaves no key behind.
            let waiter = Waiter::new(Arc::clone(&seat));
            let leader = Leader::new(inner, request, seat);
            #[cfg(feature = "tracing")]
            let leader = tracing::Instrument::in_current_span(leader);
            // The task is owned by its flight, which tells it to stop when the last caller has left.
            drop(tokio::spawn(leader));
            Caller::Leader(waiter)
        }
        Entered::Full => {
            counters.overloaded.up();
            Caller::Failed(Overloaded::new(limit).into())
        }
    }
}

fn poll_shared<S, Req, K, H>(
    caller: &mut Caller<S, Req, K, H, H::Shared>,
    cx: &mut Context<'_>,
) -> Poll<Result<H::Response, BoxError>>
where
    S: Service<Req> + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    Req: Send + 'static,
    K: Hash + Eq + Clone + Send + Sync + 'static,
    H: Share<S::Response> + Send + Sync + 'static,
{
    loop {
        if let Caller::Leader(waiter) | Caller::Follower { waiter, .. } = caller {
            match ready!(waiter.poll_outcome(cx)) {
                Ok(()) => {}
                Err(error) => return Poll::Ready(Err(error.into_error())),
            }
        }
        let (waiter, role, spare) = match std::mem::replace(caller, Caller::Gone) {
            Caller::Leader(waiter) => (waiter, Role::Leader, None),
            Caller::Follower {
                waiter,
                inner,
                request,
            } => (waiter, Role::Follower, Some((inner, request))),
            Caller::Failed(error) => return Poll::Ready(Err(error)),
            Caller::Gone => return Poll::Ready(Err(FlightError::aborted().into_error())),
        };
        let Some((seat, lease)) = waiter.into_lease() else {
            continue;
        };
        let Some(shared) = seat.shared.get() else {
            continue;
        };
        match (seat.home.share.open(shared, lease, role), spare) {
            (Ok(response), _) => return Poll::Ready(Ok(response)),
            (Err(_), None) => {}
            (Err(lease), Some((inner, request))) => {
                drop(lease);
                seat.home.stats.counters().refused.up();
                let key = seat.flight.key().clone();
                *caller = enter(&seat.home, key, Some(seat.flight.id()), inner, request);
            }
        }
    }
}
