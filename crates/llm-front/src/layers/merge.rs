//! Turns a batch into one upstream call: requests equal in everything but their input go together, and the answer is split among
//! them again.
//!
//! # Back-pressure
//! Always ready; the batcher above bounds the calls.
//!
//! # Cancellation
//! A caller who leaves does not stop the call of the others; the batcher drops the call when the last one has left.
//!
//! # Errors
//! Every item gets its answer or its error through its responder. After a refusal that one input can have caused (400, 413, 422) of a merged call, each
//! request is sent alone, so that one bad request fails alone. Where the answers do not add up, everybody gets an error and
//! nobody somebody else's answer.
//!
//! # Panics
//! None.

use crate::asked::Carry;
use crate::errors::Refusal;
use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use http::{HeaderName, Request, Response, StatusCode, Uri, header, request, response};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use llm_backend::RequestBody;
use llm_backend::merge::{self, Part};
use llm_backend::prompt::Endpoint;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::{BoxError, ServiceExt};
use tower_batch_llm::{Batch, Item, Responder};
use tower_layer::Layer;
use tower_service::Service;

/// The largest answer to a batch: it is held whole to be split.
const ANSWER_LIMIT: usize = 64 << 20;

/// Headers that tell one request from another without changing its answer; the first request's are the ones sent.
const INCIDENTAL: [HeaderName; 6] = [
    header::CONTENT_LENGTH,
    header::USER_AGENT,
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("baggage"),
];

/// A request that can go upstream together with others of its group.
#[derive(Clone, Debug)]
pub struct Mergeable {
    part: Part,
    group: Arc<[u8]>,
}

impl Mergeable {
    /// A request's input, to go with those of requests with the same rest, query and headers.
    #[must_use]
    pub fn new(part: Part, head: &request::Parts) -> Self {
        let mut group = Vec::new();
        let mut add = |piece: &[u8]| {
            group.extend_from_slice(&(piece.len() as u64).to_le_bytes());
            group.extend_from_slice(piece);
        };
        add(part.compat());
        add(head.uri.query().unwrap_or_default().as_bytes());
        for (name, value) in &head.headers {
            if !INCIDENTAL.contains(name) && !name.as_str().starts_with("x-stainless-") {
                add(name.as_str().as_bytes());
                add(value.as_bytes());
            }
        }
        Self {
            part,
            group: group.into(),
        }
    }

    /// Requests of equal groups may go together.
    #[must_use]
    pub fn group<B>(request: &Request<B>) -> Option<Arc<[u8]>> {
        request
            .asked()?
            .merge
            .as_ref()
            .map(|mergeable| mergeable.group.clone())
    }
}

/// Merges batches of requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeLayer;

impl<S> Layer<S> for MergeLayer {
    type Service = Merge<S>;
    fn layer(&self, inner: S) -> Merge<S> {
        Merge { inner }
    }
}

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Merge<S> {
    inner: S,
}

/// What one caller of a batch sent.
struct Sent {
    request: Request<()>,
    part: Part,
}

impl<S, B> Service<Batch<Request<RequestBody>, Response<Bytes>>> for Merge<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = ();
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<(), BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, batch: Batch<Request<RequestBody>, Response<Bytes>>) -> Self::Future {
        let inner = self.inner.clone();
        let (sent, responders) = batch
            .into_iter()
            .filter_map(|Item { request, responder }| {
                let part = request.asked()?.merge.as_ref()?.part.clone();
                Some((
                    Sent {
                        request: request.map(drop),
                        part,
                    },
                    responder,
                ))
            })
            .unzip();
        Box::pin(serve(inner, sent, responders))
    }
}

/// Answers every caller, with as few calls as it takes.
async fn serve<S, B>(
    inner: S,
    sent: Vec<Sent>,
    responders: Vec<Responder<Response<Bytes>>>,
) -> Result<(), BoxError>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
{
    match together(inner.clone(), &sent).await? {
        Together::Answered(answers) => {
            for (responder, answer) in responders.into_iter().zip(answers) {
                responder.send(Ok(answer));
            }
        }
        Together::Refused => {
            let callers = sent.into_iter().zip(responders);
            join_all(callers.map(|(sent, responder)| alone(inner.clone(), sent, responder))).await;
        }
    }
    Ok(())
}

/// How a joined call went.
enum Together {
    /// An answer for each.
    Answered(Vec<Response<Bytes>>),
    /// One of them may be at fault.
    Refused,
}

/// Sends all callers' inputs in one call.
async fn together<S, B>(inner: S, sent: &[Sent]) -> Result<Together, BoxError>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
{
    let Some(first) = sent.first() else {
        return Ok(Together::Answered(Vec::new()));
    };
    let parts: Vec<Part> = sent.iter().map(|sent| sent.part.clone()).collect();
    let body = merge::join(&parts).map_err(misfit)?;
    let (head, body) = send(inner, &first.request, first.part.endpoint(), body).await?;
    if sent.len() > 1 && is_somebodys_fault(head.status) {
        return Ok(Together::Refused);
    }
    let answers = match head.status.is_success() {
        true => merge::split(&parts, &body).map_err(misfit)?,
        false => vec![body; sent.len()],
    };
    Ok(Together::Answered(
        answers
            .into_iter()
            .map(|answer| rebuild(&head, answer))
            .collect(),
    ))
}

async fn alone<S, B>(inner: S, sent: Sent, mut responder: Responder<Response<Bytes>>)
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
{
    // Correctness: a caller who has left is asked for first, so that nothing is sent for it; one who leaves drops its own call.
    let answered = tokio::select! {
        biased;
        () = responder.closed() => return,
        answered = together(inner, std::slice::from_ref(&sent)) => answered,
    };
    match answered {
        Ok(Together::Answered(answers)) => {
            if let Some(answer) = answers.into_iter().next() {
                responder.send(Ok(answer));
            }
        }
        // Of one caller nothing is refused on account of another.
        Ok(Together::Refused) => {}
        Err(error) => responder.send(Err(error)),
    }
}

async fn send<S, B>(
    inner: S,
    like: &Request<()>,
    endpoint: Endpoint,
    body: Bytes,
) -> Result<(response::Parts, Bytes), BoxError>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
{
    let mut request = Request::new(RequestBody::full(body));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = with_query(endpoint.upstream_path(), like.uri().query());
    *request.headers_mut() = like.headers().clone();
    request.headers_mut().remove(header::CONTENT_LENGTH);
    let response = inner.oneshot(request).await.map_err(Into::into)?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, ANSWER_LIMIT)
        .collect()
        .await
        .map_err(too_large)?;
    Ok((head, body.to_bytes()))
}

fn too_large(error: BoxError) -> BoxError {
    if !error.is::<LengthLimitError>() {
        return error;
    }
    let message = format!("the backend's answer to a batch is over {ANSWER_LIMIT} bytes");
    Refusal::new(StatusCode::BAD_GATEWAY, message)
        .code("backend_error")
        .into()
}

fn with_query(path: &'static str, query: Option<&str>) -> Uri {
    let path_and_query = query.and_then(|query| format!("{path}?{query}").parse().ok());
    path_and_query.unwrap_or_else(|| Uri::from_static(path))
}

/// Whether one input can have caused this status for all: not a credential, a model or a load that they have in common.
const fn is_somebodys_fault(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
    )
}

fn rebuild(head: &response::Parts, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = head.status;
    *response.headers_mut() = head.headers.clone();
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response
}

fn misfit(error: merge::Error) -> BoxError {
    Refusal::new(
        StatusCode::BAD_GATEWAY,
        format!("the backend's answer to a batch cannot be split: {error}"),
    )
    .code("backend_error")
    .into()
}
