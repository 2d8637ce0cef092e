//! `/healthz`, `/readyz` and `/metrics`: answered here, whatever the load; everything else under `/v1/` goes on.

use crate::backend::Backend;
use crate::errors::{Chain, Refusal};
use crate::front::ReplyFuture;
use crate::layers::shared::{Shared, drive};
use crate::metrics::{self, Metrics};
use bytes::Bytes;
use futures_util::TryFutureExt as _;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use llm_backend::RequestBody;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tower::{BoxError, ServiceExt};
use tower_service::Service;

/// Longest wait for the backend's word on its readiness.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// The body of every answer that leaves the gateway.
pub type ReplyBody = UnsyncBoxBody<Bytes, BoxError>;

/// What the gateway answers with.
pub type Reply = Response<ReplyBody>;

/// Answers the gateway's own paths; hands on the others.
#[derive(Debug)]
pub(crate) struct Admin<S> {
    inner: S,
    metrics: Arc<Metrics>,
    backend: Shared<Backend>,
    /// Whether the backend is asked with a key of the gateway's own.
    has_key: bool,
}

impl<S> Admin<S> {
    pub(crate) const fn new(
        inner: S,
        metrics: Arc<Metrics>,
        backend: Shared<Backend>,
        has_key: bool,
    ) -> Self {
        Self {
            inner,
            metrics,
            backend,
            has_key,
        }
    }
}

impl<S> Admin<S> {
    pub(crate) fn answer<Q, B>(&self, request: Request<Q>) -> ReplyFuture
    where
        S: Service<Request<Q>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send,
        Q: Send + 'static,
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let path = request.uri().path();
        if path.starts_with("/v1/") {
            let reply = |response: Response<B>| {
                response.map(|body| UnsyncBoxBody::new(body.map_err(Into::into)))
            };
            return Box::pin(drive(self.inner.clone(), request).map_ok(reply));
        }
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let response = match path {
            "/healthz" if is_read => text("text/plain", "ok\n".to_owned()),
            "/metrics" if is_read => text(metrics::CONTENT_TYPE, self.metrics.render()),
            "/readyz" if is_read => {
                let (backend, has_key) = (self.backend.clone(), self.has_key);
                return Box::pin(async move { Ok(ready(backend, has_key).await.map(whole)) });
            }
            _ => not_found(request.method(), path),
        };
        Box::pin(std::future::ready(Ok(response.map(whole))))
    }
}

async fn ready(backend: Shared<Backend>, has_key: bool) -> Response<Full<Bytes>> {
    let mut request = Request::new(RequestBody::full(Bytes::new()));
    *request.uri_mut() = http::Uri::from_static("/v1/models");
    let why = match tokio::time::timeout(READY_TIMEOUT, backend.oneshot(request)).await {
        // Without a key of the gateway's own, whether a caller may use the backend is told by the caller's.
        Ok(Ok(response))
            if has_key
                && matches!(
                    response.status(),
                    StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
                ) =>
        {
            format!(
                "the backend refuses --backend-key with status {}",
                response.status()
            )
        }
        Ok(Ok(response)) if !response.status().is_server_error() => {
            return text("text/plain", "ready\n".to_owned());
        }
        Ok(Ok(response)) => format!("the backend answers with status {}", response.status()),
        Ok(Err(error)) => Chain(&error).to_string(),
        Err(_) => format!("the backend has not answered within {READY_TIMEOUT:?}"),
    };
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why)
        .code("not_ready")
        .into_response()
}

fn text(content_type: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn not_found(method: &Method, path: &str) -> Response<Full<Bytes>> {
    Refusal::new(
        StatusCode::NOT_FOUND,
        format!("there is no {method} {path}: an OpenAI-compatible API is under /v1/, and /healthz, /readyz and /metrics answer GET"),
    )
    .into_response()
}

/// A body that is there already.
fn whole(body: Full<Bytes>) -> ReplyBody {
    UnsyncBoxBody::new(body.map_err(|never| match never {}))
}
