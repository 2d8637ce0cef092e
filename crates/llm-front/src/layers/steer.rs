//! Sends to the batcher what may be batched, and everything else straight on.
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

use crate::asked::Carry;
use bytes::Bytes;
use futures_util::TryFutureExt as _;
use futures_util::future::{Either as EitherFuture, MapErr, MapOk};
use http::{Request, Response};
use http_body_util::{Either, Full};
use llm_backend::RequestBody;
use std::task::{Context, Poll};
use tower::util::Oneshot;
use tower::{BoxError, ServiceExt};
use tower_service::Service;

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Steer<D, M> {
    direct: D,
    batched: M,
}

impl<D, M> Steer<D, M> {
    /// `batched` takes what may be merged, `direct` the rest.
    pub const fn new(direct: D, batched: M) -> Self {
        Self { direct, batched }
    }
}

/// The body of either branch.
pub type SteeredBody<B> = Either<B, Full<Bytes>>;

type Direct<D, E, B> = MapOk<
    MapErr<Oneshot<D, Request<RequestBody>>, fn(E) -> BoxError>,
    fn(Response<B>) -> Response<SteeredBody<B>>,
>;
type Batched<M, B> =
    MapOk<Oneshot<M, Request<RequestBody>>, fn(Response<Bytes>) -> Response<SteeredBody<B>>>;

impl<D, M, B> Service<Request<RequestBody>> for Steer<D, M>
where
    D: Service<Request<RequestBody>, Response = Response<B>> + Clone,
    D::Error: Into<BoxError>,
    M: Service<Request<RequestBody>, Response = Response<Bytes>, Error = BoxError> + Clone,
{
    type Response = Response<SteeredBody<B>>;
    type Error = BoxError;
    type Future = EitherFuture<Direct<D, D::Error, B>, Batched<M, B>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        if request.asked().is_some_and(|asked| asked.merge.is_some()) {
            let whole: fn(Response<Bytes>) -> Self::Response =
                |response| response.map(|body| Either::Right(Full::new(body)));
            EitherFuture::Right(self.batched.clone().oneshot(request).map_ok(whole))
        } else {
            let live: fn(Response<B>) -> Self::Response = |response| response.map(Either::Left);
            let boxed: fn(D::Error) -> BoxError = Into::into;
            EitherFuture::Left(
                self.direct
                    .clone()
                    .oneshot(request)
                    .map_err(boxed)
                    .map_ok(live),
            )
        }
    }
}
