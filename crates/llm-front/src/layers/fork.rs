//! Parts the requests that the gateway reads from those it only passes on, and words every error for the caller.
//!
//! # Back-pressure
//! Always ready.
//!
//! # Cancellation
//! Dropping the future drops the branch's.
//!
//! # Errors
//! None: they become OpenAI error objects here.
//!
//! # Panics
//! None.

use crate::errors::{self, Refusal};
use crate::layers::label::CACHE_STATUS;
use crate::routes;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use llm_backend::RequestBody;
use std::convert::Infallible;
use std::task::{Context, Poll};
use tower::{BoxError, ServiceExt};
use tower_semcache::Outcome;
use tower_service::Service;

/// The body of every answer that leaves the gateway.
pub type ReplyBody = UnsyncBoxBody<Bytes, BoxError>;

/// What the gateway answers with.
pub type Reply = Response<ReplyBody>;

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Fork<P, R> {
    read: P,
    raw: R,
}

impl<P, R> Fork<P, R> {
    /// `read` takes what the gateway reads, `raw` the rest.
    pub const fn new(read: P, raw: R) -> Self {
        Self { read, raw }
    }
}

impl<P, R, Q, PB, RB> Service<Request<Q>> for Fork<P, R>
where
    P: Service<Request<Q>, Response = Response<PB>, Error = BoxError> + Clone + Send + 'static,
    P::Future: Send,
    R: Service<Request<RequestBody>, Response = Response<RB>, Error = BoxError>
        + Clone
        + Send
        + 'static,
    R::Future: Send,
    Q: Body<Data = Bytes> + Send + 'static,
    Q::Error: Into<BoxError>,
    PB: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    RB: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Reply;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Reply, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        if is_read(&request) {
            let read = self.read.clone();
            Box::pin(async move { Ok(reply(read.oneshot(request).await)) })
        } else {
            let raw = self.raw.clone();
            let request = request.map(RequestBody::streaming);
            Box::pin(async move { Ok(reply(raw.oneshot(request).await)) })
        }
    }
}

/// A compressed request cannot be read, and is passed on as it is.
fn is_read<Q>(request: &Request<Q>) -> bool {
    request.method() == Method::POST
        && routes::endpoint(request.uri()).is_some()
        && request
            .headers()
            .get(header::CONTENT_ENCODING)
            .is_none_or(|coding| coding == "identity")
}

fn reply<B>(result: Result<Response<B>, BoxError>) -> Reply
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    match result {
        Ok(response) if response.extensions().get::<Outcome>() == Some(&Outcome::NotCached) => {
            not_cached(response)
        }
        Ok(response) => response.map(|body| UnsyncBoxBody::new(body.map_err(Into::into))),
        Err(error) => errors::word(&error).into_response().map(whole),
    }
}

/// The caller wanted a stored answer or nothing, and there is none.
fn not_cached<B>(response: Response<B>) -> Reply {
    let refusal = Refusal::new(
        StatusCode::GATEWAY_TIMEOUT,
        "no stored answer, and Cache-Control: only-if-cached allows no other",
    )
    .code("not_cached");
    let mut reply = refusal.into_response().map(whole);
    *reply.extensions_mut() = response.extensions().clone();
    if let Some(status) = response.headers().get(CACHE_STATUS) {
        reply.headers_mut().insert(CACHE_STATUS, status.clone());
    }
    reply
}

/// A body that is there already.
pub fn whole(body: http_body_util::Full<Bytes>) -> ReplyBody {
    UnsyncBoxBody::new(body.map_err(|never| match never {}))
}
