//! Parts the requests that the gateway reads from those it only passes on, and words every error, a panic too, for the caller.
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

use super::ending::Ending;
use super::shared::{Driven, drive};
use crate::collect::Impatient;
use crate::errors::{self, Refusal};
use crate::layers::label::CACHE_STATUS;
use crate::routes;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::CatchUnwind;
use http::{Method, Request, Response, header};
use http_body::Body;
use http_body_util::{Either, Full};
use llm_backend::RequestBody;
use llm_backend::prompt::Endpoint;
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tower::util::Oneshot;
use tower::{BoxError, ServiceExt};
use tower_semcache::Outcome;
use tower_service::Service;

/// A body of the one branch, of the other, or one that is there already.
pub type ForkBody<P, R> = Either<Ending<Either<P, R>>, Full<Bytes>>;

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Fork<P, R> {
    read: P,
    raw: R,
    silence: Duration,
}

impl<P, R> Fork<P, R> {
    /// `read` takes what the gateway reads, `raw` the rest, whose bodies must not fall silent for longer than `silence`.
    pub const fn new(read: P, raw: R, silence: Duration) -> Self {
        Self { read, raw, silence }
    }
}

impl<P, R, Q, PB, RB> Service<Request<Q>> for Fork<P, R>
where
    P: Service<Request<Q>, Response = Response<PB>, Error = BoxError> + Clone,
    R: Service<Request<RequestBody>, Response = Response<RB>, Error = BoxError> + Clone,
    Q: Body<Data = Bytes> + Send + 'static,
    Q::Error: Into<BoxError>,
    PB: Body<Data = Bytes, Error: Into<BoxError>>,
    RB: Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Response = Response<ForkBody<PB, RB>>;
    type Error = Infallible;
    type Future = Forked<P, R, Q>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        // Correctness: after a panic the call is dropped, and nothing of it is used again. A flight's leader runs in a task of its
        // own, where its panic is an error to all its callers. What reads begins with its first poll, so nothing panics here.
        let branch = if is_read(&request) {
            let call = drive(self.read.clone(), request);
            Branch::Read {
                call: AssertUnwindSafe(call).catch_unwind(),
            }
        } else {
            let call = self
                .raw
                .clone()
                .oneshot(request.map(|body| unread(body, self.silence)));
            Branch::Raw {
                call: AssertUnwindSafe(call).catch_unwind(),
            }
        };
        Forked { branch }
    }
}

pin_project! {
    /// The answer of one branch, or what went wrong in words.
    pub struct Forked<P, R, Q>
    where
        P: Service<Request<Q>>,
        R: Service<Request<RequestBody>>,
    {
        #[pin]
        branch: Branch<P, R, Q>,
    }
}

pin_project! {
    #[project = BranchProj]
    enum Branch<P, R, Q>
    where
        P: Service<Request<Q>>,
        R: Service<Request<RequestBody>>,
    {
        Read { #[pin] call: Guarded<Driven<P, Request<Q>>> },
        Raw { #[pin] call: Guarded<Oneshot<R, Request<RequestBody>>> },
    }
}

type Guarded<F> = CatchUnwind<AssertUnwindSafe<F>>;

impl<P, R, Q, PB, RB> Future for Forked<P, R, Q>
where
    P: Service<Request<Q>, Response = Response<PB>, Error = BoxError>,
    R: Service<Request<RequestBody>, Response = Response<RB>, Error = BoxError>,
    PB: Body<Data = Bytes, Error: Into<BoxError>>,
    RB: Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Output = Result<Response<ForkBody<PB, RB>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = match self.project().branch.project() {
            BranchProj::Read { call } => ready!(call.poll(cx))
                .map(|result| result.map(|response| response.map(Either::Left))),
            BranchProj::Raw { call } => ready!(call.poll(cx))
                .map(|result| result.map(|response| response.map(Either::Right))),
        };
        Poll::Ready(Ok(match result {
            Ok(Ok(response)) if response.extensions().get() == Some(&Outcome::NotCached) => {
                not_cached(response).map(Either::Right)
            }
            Ok(Ok(response)) => Ending::of(response).map(Either::Left),
            Ok(Err(error)) => errors::word(&error).into_response().map(Either::Right),
            Err(_) => errors::panicked().into_response().map(Either::Right),
        }))
    }
}

impl<P, R, Q> fmt::Debug for Forked<P, R, Q>
where
    P: Service<Request<Q>>,
    R: Service<Request<RequestBody>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forked").finish_non_exhaustive()
    }
}

/// A body that is passed on as it comes; one that is empty can be sent again.
fn unread<Q>(body: Q, silence: Duration) -> RequestBody
where
    Q: Body<Data = Bytes> + Send + 'static,
    Q::Error: Into<BoxError>,
{
    if body.is_end_stream() {
        RequestBody::empty()
    } else {
        RequestBody::streaming(Impatient::new(body, silence))
    }
}

/// A compressed request cannot be read, and is passed on as it is.
fn is_read<Q>(request: &Request<Q>) -> bool {
    let ours = match routes::endpoint(request.uri()) {
        // No backend knows it: whatever the method, it is answered here.
        Some(Endpoint::Generate) => true,
        Some(_) => request.method() == Method::POST,
        None => false,
    };
    ours && request
        .headers()
        .get(header::CONTENT_ENCODING)
        .is_none_or(|coding| coding == "identity")
}

/// The caller wanted a stored answer or nothing, and there is none.
fn not_cached<B>(response: Response<B>) -> Response<Full<Bytes>> {
    let (parts, _) = response.into_parts();
    let mut reply = Refusal::not_cached().into_response();
    *reply.extensions_mut() = parts.extensions;
    if let Some(status) = parts.headers.get(CACHE_STATUS) {
        reply.headers_mut().insert(CACHE_STATUS, status.clone());
    }
    reply
}
