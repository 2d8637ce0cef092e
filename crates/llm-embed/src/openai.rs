//! Any server with `/v1/embeddings`, as an embedder.
//!
//! [`OpenAi`] is made of a service that speaks HTTP to the server (`llm_backend::client::OpenAi`, or any other), and the
//! name of a model. Texts that come together go in one call: a lone text at once, and what comes while a call is under way
//! when it is done.
//!
//! ```no_run
//! use llm_embed::openai::OpenAi;
//! use tower::{BoxError, ServiceExt};
//!
//! # async fn run() -> Result<(), BoxError> {
//! let server = llm_backend::client::OpenAi::new("http://localhost:8001".parse()?);
//! let embedder = OpenAi::new(server, "http://localhost:8001", "all-minilm-l6-v2");
//! let vector = embedder.oneshot("convert 5 km to miles".into()).await?;
//! println!("{} dimensions", vector.as_slice().len());
//! # Ok(())
//! # }
//! ```
//!
//! # Back-pressure
//!
//! The queue in front of the server is bounded; [`OpenAi`] is ready when there is room in it.
//!
//! # Cancellation
//!
//! A text whose caller has left before its call is left out of it.
//!
//! # Errors
//!
//! The client's, [`Refused`] for an answer that is no success, and [`Unreadable`] for one that does not hold one finite vector a
//! text. They belong to the call, and so to every text in it.
//!
//! # Panics
//!
//! Outside of a tokio runtime: the queue starts its worker.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, Uri, header};
use http_body::Body;
use http_body_util::{BodyExt, Limited};
use llm_backend::RequestBody;
use serde::{Deserialize, Serialize};
use tower::{BoxError, ServiceExt};
use tower_batch_llm::future::ResponseFuture;
use tower_batch_llm::{BatchLayer, BatchResult, Batcher, Window, batch_fn};
use tower_layer::Layer;
use tower_semcache::Vector;
use tower_service::Service;

use crate::embedder::{Embedder, EmbedderId};

/// An embedding server. Clones share the queue. See the [module docs](self).
#[derive(Clone)]
pub struct OpenAi {
    id: EmbedderId,
    batcher: Batcher<Arc<str>, Vector>,
}

/// The server refused.
#[derive(Debug)]
pub struct Refused {
    status: StatusCode,
    /// The beginning of what it said.
    said: String,
}

/// The server's answer does not hold the vectors.
#[derive(Debug)]
pub struct Unreadable {
    source: Option<serde_json::Error>,
}

/// How many texts go in one call.
const TEXTS: usize = 32;
/// How long texts wait for company while a call is under way.
const WAIT: Duration = Duration::from_millis(100);
/// How large an answer may be: thirty-two vectors of some thousand numbers, written out.
const ANSWER: usize = 16 << 20;
/// How much of a refusal is kept.
const SAID: usize = 300;

#[derive(Serialize)]
struct Ask<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

// === impl OpenAi ===

impl OpenAi {
    /// The embedder that `model` of a server is. `name` names the server: it is part of the
    /// [id](Embedder::id), and of nothing else.
    pub fn new<S, B>(server: S, name: &str, model: &str) -> Self
    where
        S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let id = EmbedderId::digest("openai 1", &[name.as_bytes(), model.as_bytes()]);
        let model: Arc<str> = model.into();
        let call = batch_fn(move |texts| embed_all(server.clone(), Arc::clone(&model), texts));
        let batches = BatchLayer::new(TEXTS).window(Window::WhileBusy(WAIT));
        Self {
            id,
            batcher: batches.layer(call),
        }
    }
}

/// All texts at once; where the server refuses them so, by halves: a text that is too long for it must not cost others their
/// vectors.
async fn embed_all<S, B>(server: S, model: Arc<str>, texts: Vec<Arc<str>>) -> BatchResult<Vector>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    let mut vectors = Vec::with_capacity(texts.len());
    // The first of them last.
    let mut parts = vec![&*texts];
    while let Some(part) = parts.pop() {
        match embed(server.clone(), &model, part).await {
            Ok(found) => vectors.extend(found.into_iter().map(Ok)),
            Err(error) if !refuses_texts(&error) => return Err(error),
            Err(error) => match part.split_at(part.len() / 2) {
                ([], _) => vectors.push(Err(error)),
                (first, second) => parts.extend([second, first]),
            },
        }
    }
    Ok(vectors)
}

/// Whether it is the texts that the server will not have.
fn refuses_texts(error: &BoxError) -> bool {
    error.downcast_ref().is_some_and(|refused: &Refused| {
        matches!(
            refused.status,
            StatusCode::BAD_REQUEST
                | StatusCode::PAYLOAD_TOO_LARGE
                | StatusCode::UNPROCESSABLE_ENTITY
        )
    })
}

/// One call.
async fn embed<S, B>(server: S, model: &str, texts: &[Arc<str>]) -> Result<Vec<Vector>, BoxError>
where
    S: Service<Request<RequestBody>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    let ask = Ask {
        model,
        input: texts.iter().map(|text| &**text).collect(),
        encoding_format: "float",
    };
    let mut request = Request::new(RequestBody::from(serde_json::to_vec(&ask)?));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = Uri::from_static("/v1/embeddings");
    let json = http::HeaderValue::from_static("application/json");
    request.headers_mut().insert(header::CONTENT_TYPE, json);
    let response = server.oneshot(request).await.map_err(Into::into)?;
    let status = response.status();
    let body = Limited::new(response.into_body(), ANSWER)
        .collect()
        .await?
        .to_bytes();
    if !status.is_success() {
        return Err(Refused::new(status, &body).into());
    }
    let answer: Answer = serde_json::from_slice(&body).map_err(|error| Unreadable {
        source: Some(error),
    })?;
    let mut vectors: Vec<Option<Vector>> = vec![None; texts.len()];
    for Embedding { index, embedding } in answer.data {
        if let Some(place) = vectors.get_mut(index) {
            *place = Some(Vector::from(embedding));
        }
    }
    let vectors: Option<Vec<_>> = vectors.into_iter().collect();
    vectors.ok_or_else(|| Unreadable { source: None }.into())
}

impl Service<Arc<str>> for OpenAi {
    type Response = Vector;
    type Error = BoxError;
    type Future = ResponseFuture<Vector>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.batcher.poll_ready(cx)
    }

    fn call(&mut self, text: Arc<str>) -> Self::Future {
        self.batcher.call(text)
    }
}

impl Embedder for OpenAi {
    fn id(&self) -> EmbedderId {
        self.id
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

// === impl Refused ===

impl Refused {
    fn new(status: StatusCode, body: &[u8]) -> Self {
        let said = String::from_utf8_lossy(body.get(..SAID).unwrap_or(body)).into_owned();
        Self { status, said }
    }

    /// The status it answered with.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the embedding server answers with status {}: {}",
            self.status, self.said
        )
    }
}

impl Error for Refused {}

// === impl Unreadable ===

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the embedding server's answer does not hold one vector a text")
    }
}

impl Error for Unreadable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::Full;
    use serde_json::{Value, json};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tower::service_fn;

    fn server(
        answer: impl Fn(Value) -> (u16, Value) + Clone + Send + Sync + 'static,
    ) -> impl Service<
        Request<RequestBody>,
        Response = Response<Full<Bytes>>,
        Error = BoxError,
        Future: Send,
    > + Clone
    + Send
    + Sync {
        service_fn(move |request: Request<RequestBody>| {
            let answer = answer.clone();
            async move {
                assert_eq!(request.uri(), "/v1/embeddings");
                let body = request.into_body().collect().await?.to_bytes();
                let (status, body) = answer(serde_json::from_slice(&body)?);
                let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
                *response.status_mut() = StatusCode::from_u16(status)?;
                Ok::<_, BoxError>(response)
            }
        })
    }

    /// One number a text: its length; in the reverse order.
    fn lengths(ask: Value) -> (u16, Value) {
        let texts = ask["input"].as_array().expect("texts").clone();
        let data = texts.iter().enumerate().rev().map(|(index, text)| {
            json!({ "index": index, "embedding": [text.as_str().map_or(0, str::len)] })
        });
        (200, json!({ "data": data.collect::<Vec<_>>() }))
    }

    #[tokio::test]
    async fn texts_that_come_together_each_get_their_own_vector() {
        let embedder = OpenAi::new(server(lengths), "s", "m");
        let texts = ["a", "bb", "ccc", "dddd"];
        let calls = texts.map(|text| embedder.clone().oneshot(text.into()));
        for (text, vector) in texts
            .iter()
            .zip(futures_util::future::join_all(calls).await)
        {
            let vector = vector.expect("embedded");
            assert_eq!(vector.as_slice(), [text.len() as f32]);
        }
    }

    #[tokio::test]
    async fn a_text_that_the_server_refuses_costs_no_other_one_its_vector() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let embedder = OpenAi::new(
            server(move |ask| {
                counted.fetch_add(1, Ordering::Relaxed);
                let too_long = |text: &Value| text.as_str().is_some_and(|text| text.len() > 20);
                match ask["input"].as_array() {
                    Some(texts) if texts.iter().any(too_long) => {
                        (400, json!({ "error": { "message": "input is too long" } }))
                    }
                    _ => lengths(ask),
                }
            }),
            "s",
            "m",
        );
        let texts: Vec<String> = (1..24).map(|length| "x".repeat(length)).collect();
        let calls_to = texts
            .iter()
            .map(|text| embedder.clone().oneshot(text.as_str().into()));
        for (text, vector) in texts
            .iter()
            .zip(futures_util::future::join_all(calls_to).await)
        {
            match vector {
                Ok(vector) => assert_eq!(vector.as_slice(), [text.len() as f32]),
                Err(error) => {
                    assert!(text.len() > 20, "{error}");
                    let chain = format!("{error} {:?}", error.source());
                    assert!(chain.contains("too long"), "{chain}");
                }
            }
        }
        let calls = calls.load(Ordering::Relaxed);
        assert!(calls < texts.len(), "{calls} calls");
    }

    #[tokio::test]
    async fn a_refusal_and_an_answer_without_vectors_are_errors_that_say_so() {
        let refusing = server(|_| (503, json!({ "error": { "message": "warming up" } })));
        let error = OpenAi::new(refusing, "s", "m")
            .oneshot("a".into())
            .await
            .expect_err("refused");
        let chain = format!("{error} {:?}", error.source());
        assert!(chain.contains("warming up"), "{chain}");
        let empty = server(|_| (200, json!({ "data": [] })));
        assert!(
            OpenAi::new(empty, "s", "m")
                .oneshot("a".into())
                .await
                .is_err()
        );
    }

    #[tokio::test]
    async fn server_and_model_are_what_tells_vectors_apart() {
        let id = |name, model| OpenAi::new(server(lengths), name, model).id();
        assert_eq!(id("s", "m"), id("s", "m"));
        assert_ne!(id("s", "m"), id("t", "m"));
        assert_ne!(id("s", "m"), id("s", "n"));
    }
}
