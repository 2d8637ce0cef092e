//! Errors as the OpenAI API words them: a status, and an object that says what went wrong and what to do.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use llm_backend::error::Kind;
use std::{error::Error, fmt, io, time::Duration};
use tower::BoxError;

/// A refusal of the gateway's own, worded for the caller.
#[derive(Clone, Debug)]
pub struct Refusal {
    status: StatusCode,
    kind: &'static str,
    code: Option<&'static str>,
    param: Option<String>,
    message: String,
    retry_after: Option<Duration>,
    caller_left: bool,
}

/// In an answer's extensions: its caller left before the whole request had come, and nobody is there to read it.
#[derive(Clone, Copy, Debug)]
pub struct CallerLeft;

impl Refusal {
    /// A refusal with the status' usual `type`.
    #[must_use]
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            kind: kind_of(status),
            code: None,
            param: None,
            message: message.into(),
            retry_after: None,
            caller_left: false,
        }
    }

    /// The caller wanted a stored answer or nothing, and there is none.
    #[must_use]
    pub fn not_cached() -> Self {
        let message = "no stored answer, and Cache-Control: only-if-cached allows no other";
        Self::new(StatusCode::GATEWAY_TIMEOUT, message).code("not_cached")
    }

    /// Names the request field at fault.
    #[must_use]
    pub fn param(mut self, param: Option<String>) -> Self {
        self.param = param;
        self
    }

    /// A word for programs.
    #[must_use]
    pub const fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// When to come again.
    #[must_use]
    pub const fn retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }

    /// The status it is answered with.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The OpenAI error object, as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self {
            kind,
            code,
            param,
            message,
            ..
        } = self;
        serde_json::json!({ "error": { "message": message, "type": kind, "param": param, "code": code } }).to_string()
    }

    /// The response the caller gets.
    #[must_use]
    pub fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(Bytes::from(self.to_json())));
        *response.status_mut() = self.status;
        if self.caller_left {
            response.extensions_mut().insert(CallerLeft);
        }
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if let Some(after) = self.retry_after {
            let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Refusal {}

/// Words any error of the stack for the caller.
#[must_use]
pub fn word(error: &BoxError) -> Refusal {
    let error: &(dyn Error + 'static) = error.as_ref();
    if let Some(refusal) = find::<Refusal>(error) {
        return refusal.clone();
    }
    if let Some(backend) = find::<llm_backend::Error>(error) {
        if backend.kind() == Kind::RequestBody {
            return broken_request(backend);
        }
        tracing::warn!(code = backend.kind().name(), error = %Chain(error), "backend failed");
        let refusal =
            Refusal::new(backend.status(), backend.to_string()).code(backend.kind().name());
        return match backend.retry_after() {
            Some(after) => refusal.retry_after(after),
            None => refusal,
        };
    }
    if find::<tower_coalesce::error::Overloaded>(error).is_some() {
        return Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many different requests in flight: try again shortly",
        )
        .code("overloaded")
        .retry_after(Duration::from_secs(1));
    }
    if let Some(lagged) = find::<tower_coalesce::error::Lagged>(error) {
        tracing::info!(error = %lagged, "caller cut off");
        return Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "read too slowly to share this answer (--log-cap)",
        )
        .code("lagged");
    }
    if find::<tower_coalesce::error::TooOld>(error).is_some() {
        return Refusal::new(
            StatusCode::GATEWAY_TIMEOUT,
            "the shared call took too long (--flight-age)",
        )
        .code("too_old");
    }
    tracing::error!(error = %Chain(error), "request failed");
    failed()
}

/// The words for a request whose body did not come whole: its caller left, or sent what is no HTTP.
pub(crate) fn broken_request(error: &(dyn Error + 'static)) -> Refusal {
    let message = format!("the request body broke off: {}", Chain(error));
    let refusal = Refusal::new(StatusCode::BAD_REQUEST, message).code("request_body");
    let caller_left = find::<io::Error>(error).is_some_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::UnexpectedEof
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
        )
    });
    Refusal {
        caller_left,
        ..refusal
    }
}

/// The words for a panic. The panic itself has been reported where it happened.
#[must_use]
pub fn panicked() -> Refusal {
    tracing::error!("request failed: a panic");
    failed()
}

fn failed() -> Refusal {
    Refusal::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the gateway failed on this request: its log says why",
    )
    .code("internal_error")
}

/// Looks for an error of type `T` in the chain of sources.
#[must_use]
pub fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    chain(error).find_map(|error| error.downcast_ref())
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        (*error).source()
    })
}

/// An error with its sources, in one line.
#[derive(Debug)]
pub struct Chain<'a>(pub &'a (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        chain(self.0)
            .skip(1)
            .try_for_each(|source| write!(f, ": {source}"))
    }
}

const fn kind_of(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        503 => "overloaded_error",
        504 => "timeout_error",
        _ => "server_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_keeps_its_words_through_the_layers() {
        #[derive(Debug)]
        struct Wrapped(BoxError);
        impl fmt::Display for Wrapped {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("wrapped")
            }
        }
        impl Error for Wrapped {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(self.0.as_ref())
            }
        }
        let inner = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy")
            .retry_after(Duration::from_millis(1500));
        let response = word(&Wrapped(inner.into()).into()).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
    }
}
