//! Gives each caller the form it asked for, where the backend was asked for another (`--upstream-form stream`).
//!
//! The backend streams, so that leaving frees it at once; a caller who wants a body gets the stream put together, one who did
//! not ask for the usage gets the stream without it. Stands above the coalescing, so that callers of both forms share a flight.
//!
//! # Back-pressure
//! As the inner service. A stream that is put together is held whole.
//!
//! # Cancellation
//! Dropping the future drops the stream it puts together.
//!
//! # Errors
//! [`Refusal`] with 502 when a stream cannot be put together, because it broke off or told an error; else the inner service's.
//!
//! # Panics
//! None.

use super::shared::{Driven, drive};
use crate::asked::{Asked, Carry, Form};
use crate::errors::Refusal;
use crate::policies::is_event_stream;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use llm_backend::transcode::{Aggregator, Usage, UsageFilter};
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tower::BoxError;
use tower_layer::Layer;
use tower_service::Service;

/// Gives each caller the form it asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct FormLayer;

impl<S> Layer<S> for FormLayer {
    type Service = Formed<S>;
    fn layer(&self, inner: S) -> Formed<S> {
        Formed { inner }
    }
}

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Formed<S> {
    inner: S,
}

impl<S, Q, B> Service<Request<Q>> for Formed<S>
where
    S: Service<Request<Q>, Response = Response<B>, Error = BoxError> + Clone,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<FormedBody<B>>;
    type Error = BoxError;
    type Future = Forming<S, Request<Q>, B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let asked = request
            .asked()
            .filter(|asked| asked.form != asked.wire)
            .cloned();
        Forming {
            call: drive(self.inner.clone(), request),
            asked,
            form: None,
        }
    }
}

pin_project! {
    /// An answer to come, in the form that was asked for.
    pub struct Forming<S, R, B>
    where
        S: Service<R>,
    {
        #[pin]
        call: Driven<S, R>,
        // What was asked, where that is not what comes.
        asked: Option<Arc<Asked>>,
        // The answer has come, and is put in form.
        form: Option<BoxFuture<'static, Result<Response<FormedBody<B>>, BoxError>>>,
    }
}

impl<S, R, B> Future for Forming<S, R, B>
where
    S: Service<R, Response = Response<B>, Error = BoxError>,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Output = Result<Response<FormedBody<B>>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let forming = match this.form {
            Some(forming) => forming,
            None => {
                let response = ready!(this.call.poll(cx))?;
                let Some(asked) = this.asked.take() else {
                    return Poll::Ready(Ok(response.map(|body| State::AsIs { body }.into())));
                };
                this.form.insert(Box::pin(form(asked, response)))
            }
        };
        forming.poll_unpin(cx)
    }
}

impl<S: Service<R>, R, B> fmt::Debug for Forming<S, R, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forming").finish_non_exhaustive()
    }
}

async fn form<B>(
    asked: Arc<Asked>,
    response: Response<B>,
) -> Result<Response<FormedBody<B>>, BoxError>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    // An error, or an answer of a server that does not stream: already a body.
    if !is_event_stream(response.headers().get(header::CONTENT_TYPE)) {
        return Ok(response.map(|body| State::AsIs { body }.into()));
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = match asked.form {
        Form::Stream { .. } => State::WithoutUsage {
            body,
            filter: Some(Box::new(UsageFilter::new())),
            rest: Bytes::new(),
        },
        Form::Body => {
            let whole =
                put_together(Aggregator::new(asked.endpoint).usage(Usage::Optional), body).await?;
            parts.headers.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            );
            State::Whole {
                body: Full::new(whole),
            }
        }
    };
    Ok(Response::from_parts(parts, body.into()))
}

async fn put_together<B>(mut aggregator: Aggregator, body: B) -> Result<Bytes, BoxError>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    let failed = |error: llm_backend::transcode::Error| {
        // The server's own words, where it said what went wrong.
        let said = error
            .event()
            .map(|event| format!(": {}", String::from_utf8_lossy(event)))
            .unwrap_or_default();
        let message = format!("the backend's stream is no whole answer: {error}{said}");
        Refusal::new(StatusCode::BAD_GATEWAY, message).code("backend_error")
    };
    let mut body = pin!(body);
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(Into::into)?.into_data() {
            aggregator.push(data).map_err(failed)?;
        }
    }
    Ok(aggregator.finish().map_err(failed)?)
}

pin_project! {
    /// A body in the form that was asked for.
    #[derive(Debug)]
    pub struct FormedBody<B> {
        #[pin]
        state: State<B>,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = StateProj]
    enum State<B> {
        // It came in that form.
        AsIs { #[pin] body: B },
        // A stream, put together.
        Whole { #[pin] body: Full<Bytes> },
        // A stream whose usage is taken out. `rest` came, and has not passed the filter; after the end there is none.
        WithoutUsage { #[pin] body: B, filter: Option<Box<UsageFilter>>, rest: Bytes },
    }
}

impl<B> From<State<B>> for FormedBody<B> {
    fn from(state: State<B>) -> Self {
        Self { state }
    }
}

impl<B> Body for FormedBody<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let (mut body, filter, rest) = match self.project().state.project() {
            StateProj::AsIs { body } => return body.poll_frame(cx).map_err(Into::into),
            StateProj::Whole { body } => {
                return body.poll_frame(cx).map_err(|never| match never {});
            }
            StateProj::WithoutUsage { body, filter, rest } => (body, filter, rest),
        };
        loop {
            let Some(current) = filter else {
                return Poll::Ready(None);
            };
            if let Some(bytes) = current.push(rest)? {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            match ready!(body.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => *rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                Some(Err(error)) => {
                    *filter = None;
                    return Poll::Ready(Some(Err(error.into())));
                }
                None => {
                    let end = filter
                        .take()
                        .map(|filter| filter.finish())
                        .unwrap_or_default();
                    return Poll::Ready((!end.is_empty()).then(|| Ok(Frame::data(end))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            State::AsIs { body } => body.is_end_stream(),
            State::Whole { body } => body.is_end_stream(),
            State::WithoutUsage { filter, .. } => filter.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            State::AsIs { body } => body.size_hint(),
            State::Whole { body } => body.size_hint(),
            State::WithoutUsage { .. } => SizeHint::default(),
        }
    }
}
