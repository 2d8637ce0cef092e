//! A second answer to a request, straight from the backend: what tells a wrong stored answer from one that only differs as two
//! answers to one request do.
//!
//! It goes where the judge's calls go: through the same places at the backend as everybody's, with the gateway's own credential.

use super::call::post;
use crate::policies::Whole;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Limited};
use llm_backend::RequestBody;
use llm_backend::merge::completion_request;
use llm_backend::prompt::Endpoint;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::{BoxError, ServiceExt};
use tower_semcache::Again;
use tower_semcache::http::{Answer, Complete};
use tower_service::Service;

/// Asks `upstream` for a second answer.
#[derive(Clone, Debug)]
pub(crate) struct AskAgain<S> {
    upstream: S,
    /// The model of `/v1/generate`.
    generate_model: Arc<str>,
    max_bytes: usize,
}

impl<S> AskAgain<S> {
    pub(crate) fn new(upstream: S, generate_model: &str, max_bytes: usize) -> Self {
        Self {
            upstream,
            generate_model: generate_model.into(),
            max_bytes,
        }
    }
}

impl<S, B> Service<Again> for AskAgain<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = BoxError>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Answer;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Answer, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, again: Again) -> Self::Future {
        let request = request(again.canonical(), &self.generate_model);
        let (upstream, max_bytes) = (self.upstream.clone(), self.max_bytes);
        Box::pin(async move {
            let (head, body) = upstream.oneshot(request?).await?.into_parts();
            let body = Limited::new(body, max_bytes).collect().await?.to_bytes();
            let answer = Answer::new(head.status, head.headers, body);
            match Whole.complete(&answer) {
                true => Ok(answer),
                false => Err("the second answer is not whole".into()),
            }
        })
    }
}

/// The fields that tell where a request goes.
#[derive(Deserialize)]
struct Fields {
    messages: Option<IgnoredAny>,
    model: Option<IgnoredAny>,
}

/// The request with these canonical bytes: all that can change the answer, and none of what says in which form it comes.
fn request(canonical: &Bytes, generate_model: &str) -> Result<Request<RequestBody>, BoxError> {
    let fields: Fields = serde_json::from_slice(canonical)?;
    Ok(match (fields.messages, fields.model) {
        (Some(_), _) => post(Endpoint::ChatCompletions.path(), canonical.clone()),
        (None, Some(_)) => post(Endpoint::Completions.path(), canonical.clone()),
        (None, None) => {
            let completion = completion_request(canonical, Some(generate_model));
            post(
                Endpoint::Completions.path(),
                completion.ok_or("not a request")?,
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_goes_where_it_went_first() {
        for (canonical, path) in [
            (r#"{"messages":[],"model":"m"}"#, "/v1/chat/completions"),
            (r#"{"model":"m","prompt":"Hi"}"#, "/v1/completions"),
            (r#"{"prompt":"Hi"}"#, "/v1/completions"),
        ] {
            let request = request(&canonical.into(), "m").expect("a request");
            assert_eq!(request.uri().path(), path);
        }
        assert!(request(&"[]".into(), "m").is_err());
    }
}
