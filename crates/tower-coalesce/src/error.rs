//! What can go wrong, besides what the inner service does.
//!
//! The layer's error is a [`BoxError`], which holds one of these types or what the inner service failed with. Server frameworks want a
//! response instead, so one more layer stands above this one.
//!
//! tonic resets the stream on an error that is not a `tonic::Status`. With `.layer(MapErrLayer::new(status))` (of
//! [`tower::util`]) above the layers the caller is told why:
//!
//! ```
//! # struct Status(&'static str, String);
//! # impl Status {
//! #     fn unavailable(text: String) -> Self { Self("unavailable", text) }
//! #     fn internal(text: String) -> Self { Self("internal", text) }
//! # }
//! use tower::BoxError;
//! use tower_coalesce::error::Overloaded;
//!
//! fn status(error: BoxError) -> Status {
//!     if error.is::<Overloaded>() {
//!         Status::unavailable(error.to_string())
//!     } else {
//!         Status::internal(error.to_string())
//!     }
//! }
//! # let Status(code, text) = status("gone".into());
//! # assert_eq!((code, text.as_str()), ("internal", "gone"));
//! ```
//!
//! axum takes layers only where nothing can fail. `.layer(HandleErrorLayer::new(answer))` (of `axum::error_handling`) comes above them:
//!
#![cfg_attr(feature = "http", doc = "```")]
#![cfg_attr(not(feature = "http"), doc = "```ignore")]
//! use http::StatusCode;
//! use tower::BoxError;
//! use tower_coalesce::error::Overloaded;
//!
//! async fn answer(error: BoxError) -> (StatusCode, String) {
//!     let status = if error.is::<Overloaded>() {
//!         StatusCode::SERVICE_UNAVAILABLE
//!     } else {
//!         StatusCode::BAD_GATEWAY
//!     };
//!     (status, error.to_string())
//! }
//! # let answer = tokio_test::block_on(answer("gone".into()));
//! # assert_eq!(answer, (StatusCode::BAD_GATEWAY, "gone".to_owned()));
//! ```

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tower::BoxError;

/// There are as many flights as [`max_flights`](crate::CoalesceLayer::max_flights) allows, and the request is in none.
#[derive(Debug)]
pub struct Overloaded {
    limit: usize,
}

/// The call panicked: in the inner service, in its body, or in [`Share::share`](crate::Share::share).
#[derive(Clone, Copy, Debug)]
pub struct LeaderPanicked(());

/// The call was dropped before it had an outcome: its runtime is shutting down, or a
/// [`Share`](crate::Share) refused its leader.
#[derive(Clone, Copy, Debug)]
pub struct LeaderAborted(());

/// The call reached [`max_age`](crate::CoalesceLayer::max_age).
#[derive(Clone, Copy, Debug)]
pub struct TooOld(());

/// This reader of a shared body fell a whole cap behind the fastest one.
#[derive(Clone, Copy, Debug)]
pub struct Lagged {
    cap: u64,
}

/// How a shared call failed: the same value for everybody in the flight.
///
/// Displays as what it stands for. [`source`](Error::source) is the original error, so that `downcast_ref` on the chain finds
/// it. Callers get it boxed if the inner service or the inner body failed; if the flight itself did, they get the
/// [`LeaderPanicked`], [`LeaderAborted`] or [`TooOld`] that it stands for (see [`FlightError::into_error`]).
#[derive(Clone)]
pub struct FlightError(Repr);

#[derive(Clone)]
enum Repr {
    Inner(Arc<dyn Error + Send + Sync>),
    Panicked(LeaderPanicked),
    Aborted(LeaderAborted),
    TooOld(TooOld),
}

// === impl FlightError ===

impl FlightError {
    /// Makes an error that can be given to many.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(Repr::Inner(Arc::from(error.into())))
    }

    /// The error for one caller: itself, or the typed error of the flight that it stands for.
    #[must_use]
    pub fn into_error(self) -> BoxError {
        match self.0 {
            Repr::Inner(_) => Box::new(self),
            Repr::Panicked(error) => Box::new(error),
            Repr::Aborted(error) => Box::new(error),
            Repr::TooOld(error) => Box::new(error),
        }
    }

    pub(crate) fn panicked() -> Self {
        Self(Repr::Panicked(LeaderPanicked(())))
    }

    pub(crate) fn aborted() -> Self {
        Self(Repr::Aborted(LeaderAborted(())))
    }

    pub(crate) fn too_old() -> Self {
        Self(Repr::TooOld(TooOld(())))
    }

    fn original(&self) -> &(dyn Error + 'static) {
        match &self.0 {
            Repr::Inner(error) => &**error,
            Repr::Panicked(error) => error,
            Repr::Aborted(error) => error,
            Repr::TooOld(error) => error,
        }
    }
}

impl fmt::Debug for FlightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FlightError")
            .field(&self.original())
            .finish()
    }
}

impl fmt::Display for FlightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.original(), f)
    }
}

impl Error for FlightError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.original())
    }
}

// === impl Overloaded ===

impl Overloaded {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit }
    }

    /// How many flights there may be.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }
}

impl fmt::Display for Overloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "too many calls in flight, the limit is {}", self.limit)
    }
}

impl Error for Overloaded {}

// === impl LeaderPanicked ===

impl fmt::Display for LeaderPanicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the shared call panicked")
    }
}

impl Error for LeaderPanicked {}

// === impl LeaderAborted ===

impl fmt::Display for LeaderAborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the shared call was dropped before it had an outcome")
    }
}

impl Error for LeaderAborted {}

// === impl TooOld ===

impl fmt::Display for TooOld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the shared call took longer than it may")
    }
}

impl Error for TooOld {}

// === impl Lagged ===

#[cfg(feature = "http")]
impl Lagged {
    pub(crate) fn new(cap: u64) -> Self {
        Self { cap }
    }
}

impl fmt::Display for Lagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "fell more than {} bytes behind the fastest reader of a shared body",
            self.cap
        )
    }
}

impl Error for Lagged {}
