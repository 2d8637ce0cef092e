//! The service.

use std::sync::Arc;
use std::task::{Context, Poll};

use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body as HttpBody;
use tower::BoxError;
use tower_service::Service;

use super::answer;
use super::body::Body;
use super::future::ResponseFuture;
use super::request::Endpoint;
use super::settings::Settings;
use super::stats::{Counters, Stats};
use crate::error::Error;

/// A deterministic stand-in for an OpenAI-compatible server.
///
/// See the [module docs](super). Clones share their counters.
#[derive(Clone, Debug, Default)]
pub struct Stub {
    shared: Arc<Shared>,
}

/// What the clones of a stub share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) counters: Arc<Counters>,
    #[cfg(feature = "replay")]
    pub(super) engine: Option<super::Engine>,
}

// === impl Stub ===

impl Stub {
    /// A stub of these settings.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            shared: Arc::new(Shared {
                settings,
                ..Shared::default()
            }),
        }
    }

    /// A stub of these settings whose answers take the time of a simulated server: each waits for a seat, for its prompt and for
    /// its tokens, which come as the steps of the server end.
    ///
    /// What the settings say of cost and pace does not count, and neither does the server for a call whose model's name says
    /// `delay` or `pace`. An answer that can never fit in the server's memory is refused with a 400.
    #[cfg(feature = "replay")]
    #[must_use]
    pub fn replay(settings: Settings, engine: super::Engine) -> Self {
        Self {
            shared: Arc::new(Shared {
                settings,
                engine: Some(engine),
                ..Shared::default()
            }),
        }
    }

    /// What it has done.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.counters.stats()
    }

    /// Forgets what it has done, but for the work in flight.
    pub fn reset(&self) {
        self.shared.counters.reset();
    }

    /// Answers a request.
    pub(super) fn answer<B>(&self, request: Request<B>) -> ResponseFuture<B> {
        let (parts, body) = request.into_parts();
        match self.route(&parts) {
            Ok(endpoint) => {
                self.shared.counters.request();
                ResponseFuture::work(self.shared.clone(), endpoint, body)
            }
            Err(response) => ResponseFuture::ready(self.shared.clone(), *response),
        }
    }

    /// The endpoint of work, or the answer of another.
    fn route(&self, parts: &Parts) -> Result<Endpoint, Box<Response<Body>>> {
        let (method, endpoint) = match parts.uri.path() {
            "/v1/chat/completions" => (Method::POST, Ok(Endpoint::Chat)),
            "/v1/completions" => (Method::POST, Ok(Endpoint::Completions)),
            "/v1/embeddings" => (Method::POST, Ok(Endpoint::Embeddings)),
            path @ ("/v1/models" | "/health" | "/stats") => (Method::GET, Err(path)),
            path @ "/reset" => (Method::POST, Err(path)),
            path => {
                let message = format!("there is no {path}");
                return Err(Box::new(answer::error(StatusCode::NOT_FOUND, &message)));
            }
        };
        if parts.method != method {
            let message = format!("the method is {method}");
            return Err(Box::new(answer::error(
                StatusCode::METHOD_NOT_ALLOWED,
                &message,
            )));
        }
        endpoint.map_err(|path| {
            Box::new(match path {
                "/v1/models" => answer::models(),
                "/stats" => {
                    let stats = serde_json::to_vec(&self.stats()).unwrap_or_default();
                    answer::json(StatusCode::OK, stats)
                }
                "/reset" => {
                    self.reset();
                    answer::json(StatusCode::OK, "{}")
                }
                _ => answer::json(StatusCode::OK, r#"{"status":"ok"}"#),
            })
        })
    }
}

impl<B> Service<Request<B>> for Stub
where
    B: HttpBody,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = ResponseFuture<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<B> {
        self.answer(request)
    }
}
