use std::future::{Future, Ready, ready};
use std::time::Duration;

use crate::{FlightError, Lease, OnAbandon, Role};

/// How one response becomes many.
///
/// [`Cloned`] is for responses that can be cloned, `http::SharedBody` (feature `http`) for streaming
/// bodies. An implementation of your own is called by the flight in this order:
///
/// 1. [`share`](Share::share), once, with the response of the inner service. Its `Drive` is polled at once, before any
///    caller is told.
/// 2. [`open`](Share::open), once a caller, from the moment that the drive is first pending or ready.
/// 3. [`landed`](Share::landed), once, when the drive has ended or was stopped. **The key is free by then**, so that a
///    request made by somebody who sees the end starts a new call.
///
/// # Panics
/// A panic in `share` or in the drive is a [`LeaderPanicked`](crate::error::LeaderPanicked) to all callers of the flight; one in `open` or
/// `pass` goes to the one caller it was called for; one in `landed` or `deserted` is caught and ignored. None keeps a key.
pub trait Share<Res> {
    /// What the callers share.
    type Shared: Send + Sync + 'static;
    /// What the flight runs after the inner service has answered: the pump of a body, or nothing.
    type Drive: Future<Output = ()> + Send + 'static;
    /// What each caller gets.
    type Response;

    /// Takes the response apart. What the drive finds out at the end is to be kept back until [`landed`](Share::landed).
    fn share(&self, response: Res) -> (Self::Shared, Self::Drive);

    /// One caller's response. It keeps the `lease` for as long as it needs the flight to go on.
    ///
    /// # Errors
    /// Gives the lease back if the flight can no longer be joined: the caller then starts a flight of its own, which takes the
    /// key over. A [`Role::Leader`] must not be refused, since its request is spent: it would get a
    /// [`LeaderAborted`](crate::error::LeaderAborted).
    fn open(
        &self,
        shared: &Self::Shared,
        lease: Lease,
        role: Role,
    ) -> Result<Self::Response, Lease>;

    /// The response of a call that is not shared, untouched.
    fn pass(&self, response: Res) -> Self::Response;

    /// The drive has ended (`Ok`) or was stopped, and the key is free: publish the end.
    fn landed(&self, shared: &Self::Shared, end: Result<(), FlightError>) {
        let _ = (shared, end);
    }

    /// The last caller has left a flight whose drive still runs. `then` is what the layer was set to.
    ///
    /// The answer counts only for [`OnAbandon::Cancel`].
    fn deserted(&self, shared: &Self::Shared, then: OnAbandon) -> Rest {
        let _ = (shared, then);
        Rest::Stop
    }
}

/// What a flight that nobody is in does, see [`Share::deserted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// It is dropped at once.
    Stop,
    /// So little is missing that it may take this long to come to its end; it can be joined meanwhile.
    Drain(Duration),
}

/// Every caller gets a clone of the response. The key is freed before anybody is woken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cloned;

// === impl Cloned ===

impl<Res> Share<Res> for Cloned
where
    Res: Clone + Send + Sync + 'static,
{
    type Shared = Res;
    type Drive = Ready<()>;
    type Response = Res;

    fn share(&self, response: Res) -> (Res, Ready<()>) {
        (response, ready(()))
    }

    fn open(&self, shared: &Res, _: Lease, _: Role) -> Result<Res, Lease> {
        Ok(shared.clone())
    }

    fn pass(&self, response: Res) -> Res {
        response
    }
}
