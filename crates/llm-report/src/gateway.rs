//! The whole gateway in process: every layer of `llm_front::stack`, without a socket.

use crate::BoxError;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use llm_bench::measure::Source;
use llm_front::config::Config;
use llm_front::front::Front;
use llm_front::metrics::Metrics;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt;

/// A gateway, and whoever asks it; clones ask the same one.
#[derive(Clone, Debug)]
pub struct Gateway {
    service: Front<Full<Bytes>>,
    metrics: Arc<Metrics>,
}

/// An answer, and when its pieces came.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, piece by piece, each with the time since the request.
    pub pieces: Vec<(Duration, Bytes)>,
    /// From the request to the end of the body.
    pub took: Duration,
}

impl Answer {
    /// Where it came from.
    #[must_use]
    pub fn source(&self) -> Source {
        let field = self.headers.get("cache-status");
        field.map_or(Source::Unsaid, |value| Source::of(value.as_bytes()))
    }

    /// The body in one piece.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        self.pieces
            .iter()
            .flat_map(|(_, piece)| piece)
            .copied()
            .collect()
    }

    /// From the request to the first piece that holds content; `took` without one.
    #[must_use]
    pub fn first_content(&self) -> Duration {
        let holds = |piece: &Bytes| piece.windows(11).any(|part| part == b"\"content\":\"");
        let empty = |piece: &Bytes| piece.windows(12).any(|part| part == b"\"content\":\"\"");
        let first = self
            .pieces
            .iter()
            .find(|(_, piece)| holds(piece) && !empty(piece));
        first.map_or(self.took, |(at, _)| *at)
    }
}

impl Gateway {
    /// A gateway of this configuration.
    ///
    /// # Errors
    /// The configuration cannot work.
    pub fn new(config: &Config) -> Result<Self, BoxError> {
        config.check()?;
        let gateway = llm_front::stack::build(config)?;
        Ok(Self {
            service: gateway.service,
            metrics: gateway.metrics,
        })
    }

    /// What it counts, as OpenMetrics text.
    #[must_use]
    pub fn metrics(&self) -> String {
        self.metrics.render()
    }

    /// Asks, and reads the answer to its end.
    ///
    /// # Errors
    /// The request cannot be made, or its answer broke off.
    pub async fn ask(&self, request: Request<Full<Bytes>>) -> Result<Answer, BoxError> {
        read(self.service.clone(), request).await
    }
}

/// Asks any HTTP service, and reads the answer to its end.
///
/// # Errors
/// The service fails, or its answer broke off.
pub async fn read<S, B>(service: S, request: Request<Full<Bytes>>) -> Result<Answer, BoxError>
where
    S: tower::Service<Request<Full<Bytes>>, Response = http::Response<B>>,
    S::Error: Into<BoxError>,
    B: http_body_util::BodyExt<Data = Bytes, Error: Into<BoxError>>,
{
    let sent = Instant::now();
    let response = service.oneshot(request).await.map_err(Into::into)?;
    let (head, body) = response.into_parts();
    let mut body = std::pin::pin!(body);
    let mut pieces = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(piece) = frame.map_err(Into::into)?.into_data() {
            pieces.push((sent.elapsed(), piece));
        }
    }
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        pieces,
        took: sent.elapsed(),
    })
}

/// A chat of one message, the same each time. `model` and `prompt` are put into JSON as they are.
///
/// # Errors
/// None in practice: the path is constant.
pub fn chat(model: &str, prompt: &str, rest: &str) -> Result<Request<Full<Bytes>>, BoxError> {
    let json = format!(
        r#"{{"model":"{model}","messages":[{{"role":"user","content":"{prompt}"}}],"temperature":0{rest}}}"#
    );
    Ok(Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .body(Full::from(json))?)
}
