//! `POST /v1/cache/feedback`: a caller says that an answer it got was bad, and nobody gets it again.
//!
//! `{"answer": NAME, "verdict": "bad"}`, with the name from the header [`ANSWER`](crate::receipts::ANSWER). The stored answer
//! leaves before the reply is sent, and so does all that was made of it; where it had answered a similar request, the two never
//! match again. `"good"` is counted and changes nothing. Somebody else's name is as unknown as one that never was.
//!
//! # Back-pressure
//! Always ready. The body is read inside the future, within bounds of size and silence.
//!
//! # Cancellation
//! Dropping the future stops reading; what it was to say is then not heard.
//!
//! # Errors
//! [`Refusal`]: 400, 404, 405, 408, 413.
//!
//! # Panics
//! None.

use crate::collect::{Bounds, collect};
use crate::errors::Refusal;
use crate::journey::Journey;
use crate::keys::Keys;
use crate::source::Source;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use llm_backend::RequestBody;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use serde_json::Value;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::BoxError;
use tower_semcache::http::Answer;
use tower_semcache::{Cache, Given};
use tower_service::Service;

/// Where it is.
pub(crate) const PATH: &str = "/v1/cache/feedback";

/// What was said of answers, by what they were.
pub(crate) type Heard = Family<Said, Counter>;

/// Hears what callers say of answers.
#[derive(Clone, Debug)]
pub(crate) struct Feedback {
    keys: Arc<Keys>,
    cache: Cache<Answer>,
    bounds: Bounds,
    heard: Heard,
}

/// A verdict, and what it was about.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(crate) struct Said {
    verdict: Verdict,
    answer: Kind,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Verdict {
    Bad,
    Good,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Kind(Given);

// === impl Feedback ===

impl Feedback {
    pub(crate) fn new(keys: Arc<Keys>, cache: Cache<Answer>, bounds: Bounds) -> Self {
        Self {
            keys,
            cache,
            bounds,
            heard: Heard::default(),
        }
    }

    /// What was heard so far.
    pub(crate) fn heard(&self) -> Heard {
        self.heard.clone()
    }

    async fn hear(&self, request: Request<RequestBody>) -> Result<Response<Full<Bytes>>, Refusal> {
        let (parts, body) = request.into_parts();
        if parts.method != Method::POST {
            let message = format!("{PATH} answers POST only");
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
        }
        let body = collect(&parts.headers, body, self.bounds).await?;
        let (name, verdict) = read(&body)?;
        let receipt = self.keys.receipts(&parts).open(&name).ok_or_else(|| {
            let message = "no answer of this name was given to this caller: it is the value of the header x-llm-front-answer of an answer to the same credentials";
            Refusal::new(StatusCode::NOT_FOUND, message).code("unknown_answer")
        })?;
        let removed = verdict == Verdict::Bad && self.cache.retract(&receipt);
        let answer = Kind(receipt.given());
        self.heard.get_or_create(&Said { verdict, answer }).inc();
        if let Some(journey) = parts.extensions.get::<Journey>() {
            journey.answered_from(Source::Gateway);
        }
        let reply = serde_json::json!({
            "object": "cache.feedback",
            "answer": name,
            "verdict": verdict.word(),
            "removed": removed,
        });
        let mut response = Response::new(Full::new(Bytes::from(reply.to_string())));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        Ok(response)
    }
}

impl Service<Request<RequestBody>> for Feedback {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move { this.hear(request).await.map_err(Into::into) })
    }
}

/// The name and the verdict of a body.
fn read(body: &Bytes) -> Result<(String, Verdict), Refusal> {
    const FORM: &str = r#"write {"answer": "…", "verdict": "bad"}"#;
    let refuse = |param: Option<&str>, why: String| {
        Refusal::new(StatusCode::BAD_REQUEST, format!("{why}: {FORM}"))
            .param(param.map(str::to_owned))
    };
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| refuse(None, format!("the body is not JSON ({error})")))?;
    let Value::Object(fields) = value else {
        return Err(refuse(None, "the body is not an object".to_owned()));
    };
    let text = |name: &'static str| match fields.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(refuse(Some(name), format!("`{name}` is not a string"))),
        None => Err(refuse(Some(name), format!("`{name}` is missing"))),
    };
    let verdict = match text("verdict")?.as_str() {
        "bad" => Verdict::Bad,
        "good" => Verdict::Good,
        _ => {
            let why = "`verdict` is neither bad nor good".to_owned();
            return Err(refuse(Some("verdict"), why));
        }
    };
    Ok((text("answer")?, verdict))
}

// === impl Verdict ===

impl Verdict {
    const fn word(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Good => "good",
        }
    }
}

impl EncodeLabelValue for Verdict {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        encoder.write_str(self.word())
    }
}

impl EncodeLabelValue for Kind {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        encoder.write_str(match self.0 {
            Given::Fresh => "generation",
            Given::Equal => "exact",
            Given::Similar => "semantic",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_body_is_named() {
        for (body, words) in [
            ("", "not JSON"),
            ("{", "not JSON"),
            ("[]", "not an object"),
            (r#"{"answer": "a"}"#, "`verdict` is missing"),
            (
                r#"{"answer": "a", "verdict": 1}"#,
                "`verdict` is not a string",
            ),
            (
                r#"{"answer": "a", "verdict": "meh"}"#,
                "neither bad nor good",
            ),
            (r#"{"verdict": "bad"}"#, "`answer` is missing"),
            (
                r#"{"answer": null, "verdict": "bad"}"#,
                "`answer` is not a string",
            ),
        ] {
            let refused = read(&Bytes::from_static(body.as_bytes())).unwrap_err();
            assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
            assert!(refused.to_string().contains(words), "{body}: {refused}");
        }
        let (name, verdict) = read(&Bytes::from_static(
            br#"{"answer": "a", "verdict": "bad", "comment": "no"}"#,
        ))
        .unwrap();
        assert_eq!((name.as_str(), verdict), ("a", Verdict::Bad));
    }
}
