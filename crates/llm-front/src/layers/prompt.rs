//! Reads the request once: body, meaning, key. Everything further in works on what is found here.
//!
//! # Back-pressure
//! Always ready. The body is read inside the future, within bounds of size and silence.
//!
//! # Cancellation
//! Dropping the future stops reading.
//!
//! # Errors
//! [`Refusal`]: 400, 408, 413; else the inner service's.
//!
//! # Panics
//! None.

use super::shared::drive;
use crate::asked::{Asked, Form};
use crate::collect::{Bounds, collect};
use crate::errors::Refusal;
use crate::keys::Keys;
use crate::routes;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body::Body;
use llm_backend::RequestBody;
use llm_backend::prompt::Endpoint;
use llm_backend::transcode::stream_request;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::BoxError;
use tower_layer::Layer;
use tower_service::Service;

/// From this size on, a body is worked out off the threads that serve everybody.
const HEAVY: usize = 256 << 10;

/// Reads each request once.
#[derive(Clone, Debug)]
pub struct PromptLayer {
    keys: Arc<Keys>,
    bounds: Bounds,
}

impl PromptLayer {
    /// Bodies within `bounds`, keys from `keys`.
    #[must_use]
    pub const fn new(keys: Arc<Keys>, bounds: Bounds) -> Self {
        Self { keys, bounds }
    }
}

impl<S> Layer<S> for PromptLayer {
    type Service = Read<S>;
    fn layer(&self, inner: S) -> Read<S> {
        Read {
            inner,
            layer: self.clone(),
        }
    }
}

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Read<S> {
    inner: S,
    layer: PromptLayer,
}

impl<S, Q, B> Service<Request<Q>> for Read<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    Q: Body<Data = Bytes> + Send + 'static,
    Q::Error: Into<BoxError>,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let inner = self.inner.clone();
        let layer = self.layer.clone();
        Box::pin(async move {
            let request = layer.read(request).await?;
            drive(inner, request).await.map_err(Into::into)
        })
    }
}

impl PromptLayer {
    async fn read<Q>(&self, request: Request<Q>) -> Result<Request<RequestBody>, Refusal>
    where
        Q: Body<Data = Bytes>,
        Q::Error: Into<BoxError>,
    {
        let (parts, body) = request.into_parts();
        let endpoint = routes::endpoint(&parts.uri).ok_or_else(|| {
            Refusal::new(
                StatusCode::NOT_FOUND,
                format!("no such endpoint: {}", parts.uri.path()),
            )
        })?;
        if parts.method != Method::POST {
            let message = format!("{} takes POST, not {}", parts.uri.path(), parts.method);
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
        }
        let body = collect(&parts.headers, body, self.bounds).await?;
        let (mut parts, (asked, body)) = if body.len() < HEAVY {
            let worked_out = work_out(&self.keys, endpoint, &parts, body)?;
            (parts, worked_out)
        } else {
            aside(self.keys.clone(), endpoint, parts, body).await?
        };
        parts.extensions.insert(asked);
        // It was read as JSON, whatever it was called (`curl -d` calls it a form), and goes on as such.
        if !is_json(parts.headers.get(header::CONTENT_TYPE)) {
            let json = HeaderValue::from_static("application/json");
            parts.headers.insert(header::CONTENT_TYPE, json);
        }
        Ok(Request::from_parts(parts, RequestBody::full(body)))
    }
}

fn is_json(content_type: Option<&HeaderValue>) -> bool {
    content_type.is_some_and(|value| {
        let essence = value.as_bytes().split(|byte| *byte == b';').next();
        essence.is_some_and(|essence| {
            essence
                .trim_ascii()
                .eq_ignore_ascii_case(b"application/json")
        })
    })
}

/// Works it out on a thread of its own.
async fn aside(
    keys: Arc<Keys>,
    endpoint: Endpoint,
    parts: Parts,
    body: Bytes,
) -> Result<(Parts, (Arc<Asked>, Bytes)), Refusal> {
    let work = move || {
        let worked_out = work_out(&keys, endpoint, &parts, body)?;
        Ok((parts, worked_out))
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        let message = "the request could not be read";
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message))
    })
}

/// What is asked for, and the body to send.
fn work_out(
    keys: &Keys,
    endpoint: Endpoint,
    parts: &Parts,
    body: Bytes,
) -> Result<(Arc<Asked>, Bytes), Refusal> {
    let asked = keys.ask(endpoint, parts, &body)?;
    let body = match asked.wire {
        Form::Stream { .. } if asked.form != asked.wire => stream_request(&body).unwrap_or(body),
        _ => body,
    };
    Ok((asked, body))
}
