//! What the layers are told about OpenAI's requests and answers; they know nothing of them by themselves.

use crate::asked::{Asked, Carry, Form};
use bytes::Bytes;
use http::{HeaderValue, Request, header};
use llm_backend::{complete, prompt::Endpoint, transcode};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use tower_semcache::http::{Answer, Asked as AskedHttp, Complete, Transcode};
use tower_semcache::{Control, Identity, Lookup};

/// What two requests in flight must agree on to share one call: all that the cache's key holds, the form on the wire, and what
/// the callers allow a cache.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FlightKey {
    identity: Identity,
    control: Control,
    wire: Form,
}

impl Hash for FlightKey {
    /// The request is enough to spread keys; equality compares everything.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity.hash(state);
    }
}

/// The key of a request in flight.
pub(crate) fn flight<B>(request: &Request<B>) -> Option<FlightKey> {
    let asked = request.asked()?;
    let lookup = asked.key.as_ref().ok()?;
    let control = *lookup.allowed();
    // Somebody who wants a stored answer or nothing must not make others wait for nothing.
    (!control.only_if_cached).then(|| FlightKey {
        identity: lookup.identity(),
        control,
        wire: asked.wire,
    })
}

/// The key of a request in the cache.
pub(crate) fn lookup<B>(request: &Request<B>) -> Option<Lookup> {
    request.asked()?.key.clone().ok()
}

/// Whether the content of a stream is there, though its end has not come yet.
pub(crate) fn stream_is_done(tail: &[u8]) -> bool {
    tail.trim_ascii_end().ends_with(b"data: [DONE]")
        || tail.trim_ascii_end().ends_with(b"data:[DONE]")
}

/// Only whole answers are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole;

impl Complete for Whole {
    fn complete(&self, answer: &Answer) -> bool {
        let content_type = answer.get(&header::CONTENT_TYPE);
        complete::is_complete(answer.status(), content_type.as_ref(), answer.body())
    }
}

/// For whom a stored answer is put in another form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    /// The caller, in the form it asked for.
    Caller,
    /// The flight, in the form that it would get from the backend.
    Flight,
}

impl Transcode for To {
    fn serve(&self, stored: &Answer, asked: &AskedHttp<'_>) -> Option<Answer> {
        let asked: &Arc<Asked> = asked.extensions.get()?;
        let form = match self {
            Self::Caller => asked.form,
            Self::Flight => asked.wire,
        };
        in_form(stored, asked.endpoint, form)
    }
}

/// A stored answer in the form that was asked for; none where it lacks something that form must have.
fn in_form(stored: &Answer, endpoint: Endpoint, form: Form) -> Option<Answer> {
    let event_stream = HeaderValue::from_static("text/event-stream");
    match (is_stream(stored), form) {
        (false, Form::Body) => Some(stored.clone()),
        (true, Form::Stream { usage }) => match (transcode::tells_usage(stored.body()), usage) {
            (true, true) | (false, false) => Some(stored.clone()),
            (true, false) => {
                let body = transcode::strip_usage(stored.body()).ok()?;
                Some(with_body(stored, None, body))
            }
            // What was never told cannot be told now.
            (false, true) => None,
        },
        (true, Form::Body) => {
            let body = transcode::aggregate(endpoint, stored.body())?;
            Some(with_body(
                stored,
                Some(HeaderValue::from_static("application/json")),
                body,
            ))
        }
        (false, Form::Stream { usage }) => {
            let body = transcode::to_stream(endpoint, stored.body(), usage)?;
            Some(with_body(stored, Some(event_stream), body))
        }
    }
}

fn with_body(stored: &Answer, content_type: Option<HeaderValue>, body: Bytes) -> Answer {
    let mut headers = stored.headers();
    if let Some(content_type) = content_type {
        headers.insert(header::CONTENT_TYPE, content_type);
    }
    Answer::new(stored.status(), headers, body)
}

fn is_stream(answer: &Answer) -> bool {
    is_event_stream(answer.get(&header::CONTENT_TYPE).as_ref())
}

/// Whether a content type is that of server-sent events.
pub(crate) fn is_event_stream(content_type: Option<&HeaderValue>) -> bool {
    complete::Form::of(content_type) == Some(complete::Form::Stream)
}
