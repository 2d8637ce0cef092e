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
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{Either, Full};
use llm_backend::RequestBody;
use std::task::{Context, Poll};
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

impl<D, M, B> Service<Request<RequestBody>> for Steer<D, M>
where
    D: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + 'static,
    D::Error: Into<BoxError>,
    D::Future: Send,
    M: Service<Request<RequestBody>, Response = Response<Bytes>, Error = BoxError>
        + Clone
        + Send
        + 'static,
    M::Future: Send,
{
    type Response = Response<Either<B, Full<Bytes>>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        if request.asked().is_some_and(|asked| asked.merge.is_some()) {
            let batched = self.batched.clone();
            Box::pin(async move {
                let response = batched.oneshot(request).await?;
                Ok(response.map(|body| Either::Right(Full::new(body))))
            })
        } else {
            let direct = self.direct.clone();
            Box::pin(async move {
                let response = direct.oneshot(request).await.map_err(Into::into)?;
                Ok(response.map(Either::Left))
            })
        }
    }
}
