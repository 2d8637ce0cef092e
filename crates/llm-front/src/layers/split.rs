//! Two ways on, and which request takes which.
//!
//! # Back-pressure
//! Always ready: each branch is driven to its own readiness inside the future.
//!
//! # Cancellation
//! Dropping the future drops the branch's.
//!
//! # Errors
//! The branch's.
//!
//! # Panics
//! None.

use super::shared::{Driven, drive};
use futures_util::TryFutureExt as _;
use futures_util::future::{Either as EitherFuture, MapErr, MapOk};
use http::{Request, Response};
use http_body_util::Either;
use std::task::{Context, Poll};
use tower::BoxError;
use tower_service::Service;

/// Which way a request takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// The first.
    Left,
    /// The second.
    Right,
}

/// See the [module docs](self).
#[derive(Debug)]
pub struct Split<Q, L, R> {
    way: fn(&Request<Q>) -> Way,
    left: L,
    right: R,
}

impl<Q, L, R> Split<Q, L, R> {
    /// Each request goes the `way` it is told.
    pub const fn new(way: fn(&Request<Q>) -> Way, left: L, right: R) -> Self {
        Self { way, left, right }
    }
}

impl<Q, L: Clone, R: Clone> Clone for Split<Q, L, R> {
    fn clone(&self) -> Self {
        Self {
            way: self.way,
            left: self.left.clone(),
            right: self.right.clone(),
        }
    }
}

/// The answer of a branch, in a type for both.
type Branch<S, Q, B, T> = MapOk<
    MapErr<Driven<S, Request<Q>>, fn(<S as Service<Request<Q>>>::Error) -> BoxError>,
    fn(Response<B>) -> Response<T>,
>;

impl<Q, L, R, LB, RB> Service<Request<Q>> for Split<Q, L, R>
where
    L: Service<Request<Q>, Response = Response<LB>> + Clone,
    L::Error: Into<BoxError>,
    R: Service<Request<Q>, Response = Response<RB>> + Clone,
    R::Error: Into<BoxError>,
{
    type Response = Response<Either<LB, RB>>;
    type Error = BoxError;
    type Future = EitherFuture<Branch<L, Q, LB, Either<LB, RB>>, Branch<R, Q, RB, Either<LB, RB>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        match (self.way)(&request) {
            Way::Left => {
                let boxed: fn(L::Error) -> BoxError = Into::into;
                let left: fn(Response<LB>) -> Self::Response =
                    |response| response.map(Either::Left);
                EitherFuture::Left(
                    drive(self.left.clone(), request)
                        .map_err(boxed)
                        .map_ok(left),
                )
            }
            Way::Right => {
                let boxed: fn(R::Error) -> BoxError = Into::into;
                let right: fn(Response<RB>) -> Self::Response =
                    |response| response.map(Either::Right);
                EitherFuture::Right(
                    drive(self.right.clone(), request)
                        .map_err(boxed)
                        .map_ok(right),
                )
            }
        }
    }
}
