//! Whole answers, as bytes.

use std::fmt::Write;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Response, StatusCode};

use super::body::Body;
use super::request::{Call, Choice, Endpoint};
use super::settings::Settings;
use super::text;

/// Answers must not depend on the clock.
pub(super) const CREATED: u64 = 1_700_000_000;

/// A JSON answer.
pub(super) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::full(body.into()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// An OpenAI error object.
pub(super) fn error(status: StatusCode, message: &str) -> Response<Body> {
    json(status, error_object(status, message))
}

pub(super) fn error_object(status: StatusCode, message: &str) -> String {
    let kind = match status.as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let code = status.as_u16();
    let error = serde_json::json!({
        "error": { "message": message, "type": kind, "param": null, "code": code }
    });
    error.to_string()
}

pub(super) fn models() -> Response<Body> {
    let list = serde_json::json!({
        "object": "list",
        "data": [{ "id": "stub", "object": "model", "created": CREATED, "owned_by": "llm-backend" }],
    });
    json(StatusCode::OK, list.to_string())
}

/// The answer to a call that is not streamed.
pub(super) fn whole(call: &Call, settings: &Settings) -> String {
    match call.endpoint {
        Endpoint::Chat | Endpoint::Completions => generated(call, &call.choices(settings)),
        Endpoint::Embeddings => embedded(call),
    }
}

/// The beginning of an answer, up to where its choices begin.
pub(super) fn head(call: &Call, object: &str) -> String {
    let id = if call.endpoint == Endpoint::Chat {
        "chatcmpl"
    } else {
        "cmpl"
    };
    format!(
        r#"{{"id":"{id}-{:016x}","object":"{object}","created":{CREATED},"model":{},"choices":["#,
        call.seed(),
        call.model
    )
}

pub(super) fn usage(call: &Call, choices: &[Choice]) -> String {
    let prompt = call.prompt_tokens();
    let completion: u64 = choices.iter().map(|choice| u64::from(choice.tokens)).sum();
    let total = prompt + completion;
    format!(
        r#"{{"prompt_tokens":{prompt},"completion_tokens":{completion},"total_tokens":{total}}}"#
    )
}

fn generated(call: &Call, choices: &[Choice]) -> String {
    let is_chat = call.endpoint == Endpoint::Chat;
    let mut out = head(
        call,
        if is_chat {
            "chat.completion"
        } else {
            "text_completion"
        },
    );
    for (place, choice) in choices.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let index = choice.index;
        let text: String = (0..choice.tokens)
            .flat_map(|token| <[&str; 2]>::from(text::token(choice.seed, token)))
            .collect();
        let finish = serde_json::Value::from(choice.finish.as_str());
        // Writing to a string cannot fail.
        let _ = if is_chat {
            write!(
                out,
                r#"{comma}{{"index":{index},"message":{{"role":"assistant","content":"{text}"}},"logprobs":null,"finish_reason":{finish}}}"#
            )
        } else {
            write!(
                out,
                r#"{comma}{{"index":{index},"text":"{text}","logprobs":null,"finish_reason":{finish}}}"#
            )
        };
    }
    let _ = write!(out, r#"],"usage":{}}}"#, usage(call, choices));
    out
}

fn embedded(call: &Call) -> String {
    let mut out = String::from(r#"{"object":"list","data":["#);
    for (index, prompt) in call.prompts.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(
            out,
            r#"{comma}{{"object":"embedding","index":{index},"embedding":"#
        );
        let vector = text::vector(prompt.seed, call.dimensions);
        if call.base64 {
            let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
            out.push('"');
            base64(&bytes, &mut out);
            out.push_str("\"}");
        } else {
            let mut open = '[';
            for x in vector {
                let _ = write!(out, "{open}{x}");
                open = ',';
            }
            out.push_str("]}");
        }
    }
    let tokens = call.prompt_tokens();
    let model = &call.model;
    let _ = write!(
        out,
        r#"],"model":{model},"usage":{{"prompt_tokens":{tokens},"total_tokens":{tokens}}}}}"#
    );
    out
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        let word = word << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS.get((word >> (18 - 6 * place) & 63) as usize);
            out.push(if place <= chunk.len() {
                digit.map_or('=', |digit| *digit as char)
            } else {
                '='
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = String::new();
            base64(plain.as_bytes(), &mut out);
            assert_eq!(out, coded);
        }
    }
}
