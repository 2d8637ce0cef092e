//! Why a backend did not answer, or did not finish.
//!
//! ```
//! use http::StatusCode;
//! use llm_backend::error::{Error, Kind};
//!
//! fn answer(error: &Error) -> (StatusCode, String) {
//!     (error.status(), error.to_string())
//! }
//!
//! fn try_another_replica(error: &Error) -> bool {
//!     error.is_retryable() && error.kind() != Kind::Dns
//! }
//! ```

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tower::BoxError;

/// A backend did not answer, or did not finish its answer.
///
/// The message names the upstream (its authority, never a credential), and the cause is kept as the
/// [`source`](StdError::source).
pub struct Error {
    // Boxed: errors are rare and results are moved often.
    inner: Box<Inner>,
}

struct Inner {
    kind: Kind,
    upstream: Arc<str>,
    limit: Option<Duration>,
    source: Option<BoxError>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// No connection could be made, for another reason than those below.
    Connect,
    /// The upstream's name could not be resolved.
    Dns,
    /// The TLS handshake failed.
    Tls,
    /// The upstream refused the connection: nobody listens.
    Refused,
    /// The upstream dropped the connection before it answered.
    Closed,
    /// The answer was cut off in the middle of its body.
    Cut,
    /// No connection within the limit (name resolution and TLS included).
    ConnectTimeout,
    /// No response head within the limit.
    HeadersTimeout,
    /// No first token (frame of the body) within the limit.
    FirstTokenTimeout,
    /// The stream fell silent for longer than the limit.
    IdleTimeout,
    /// The whole answer took longer than the limit.
    TotalTimeout,
    /// What came is not HTTP, or not what was asked for.
    Protocol,
    /// The caller's own request body failed.
    RequestBody,
    /// The path of the request has dot segments, which lead out of the upstream's base path. It was not sent.
    RequestPath,
}

// === impl Error ===

impl Error {
    #[cfg(any(feature = "client", feature = "stub"))]
    pub(crate) fn new(kind: Kind, upstream: Arc<str>) -> Self {
        Self {
            inner: Box::new(Inner {
                kind,
                upstream,
                limit: None,
                source: None,
            }),
        }
    }

    #[cfg(feature = "client")]
    pub(crate) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    #[cfg(feature = "client")]
    pub(crate) fn with_limit(mut self, limit: Option<Duration>) -> Self {
        self.inner.limit = limit;
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.inner.kind
    }

    /// The upstream's authority: `host` or `host:port`.
    #[must_use]
    pub fn upstream(&self) -> &str {
        &self.inner.upstream
    }

    /// The status to answer with: 502 (bad gateway), 503 (not there now), 504 (too slow), or 400 when the request's own body
    /// failed or its path was refused.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self.inner.kind {
            Kind::Refused => StatusCode::SERVICE_UNAVAILABLE,
            Kind::ConnectTimeout
            | Kind::HeadersTimeout
            | Kind::FirstTokenTimeout
            | Kind::IdleTimeout
            | Kind::TotalTimeout => StatusCode::GATEWAY_TIMEOUT,
            Kind::RequestBody | Kind::RequestPath => StatusCode::BAD_REQUEST,
            Kind::Connect | Kind::Dns | Kind::Tls | Kind::Closed | Kind::Cut | Kind::Protocol => {
                StatusCode::BAD_GATEWAY
            }
        }
    }

    /// Whether the same request may be sent again, here or elsewhere, without any chance that it is served twice: true only
    /// when no connection was made.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.inner.kind,
            Kind::Connect | Kind::Dns | Kind::Tls | Kind::Refused | Kind::ConnectTimeout
        )
    }

    /// When it may be worth trying again. One second where the [status](Self::status) is 503: a server that restarts.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        (self.status() == StatusCode::SERVICE_UNAVAILABLE).then_some(Duration::from_secs(1))
    }

    /// The time limit that was exceeded, where it was one.
    #[must_use]
    pub fn limit(&self) -> Option<Duration> {
        self.inner.limit
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            upstream,
            limit,
            source,
        } = &*self.inner;
        f.debug_struct("Error")
            .field("kind", kind)
            .field("upstream", upstream)
            .field("limit", limit)
            .field("source", source)
            .finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "upstream {}: {}", self.inner.upstream, self.inner.kind)?;
        if let Some(limit) = self.inner.limit {
            write!(f, " within {limit:?}")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as _)
    }
}

// === impl Kind ===

impl Kind {
    /// A short name, for metrics and for the `code` of an error object: `connect_timeout`, say.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::Refused => "refused",
            Self::Closed => "closed",
            Self::Cut => "cut",
            Self::ConnectTimeout => "connect_timeout",
            Self::HeadersTimeout => "headers_timeout",
            Self::FirstTokenTimeout => "first_token_timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::TotalTimeout => "total_timeout",
            Self::Protocol => "protocol",
            Self::RequestBody => "request_body",
            Self::RequestPath => "request_path",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "no connection",
            Self::Dns => "the name does not resolve",
            Self::Tls => "the TLS handshake failed",
            Self::Refused => "connection refused",
            Self::Closed => "connection closed before an answer",
            Self::Cut => "the answer was cut off",
            Self::ConnectTimeout => "no connection",
            Self::HeadersTimeout => "no response head",
            Self::FirstTokenTimeout => "no first token",
            Self::IdleTimeout => "no next token",
            Self::TotalTimeout => "no complete answer",
            Self::Protocol => "the answer is not valid HTTP",
            Self::RequestBody => "the request body failed",
            Self::RequestPath => "the request path has dot segments",
        })
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_upstream_and_the_limit() {
        let error = Error::new(Kind::IdleTimeout, "gpu-1:8000".into())
            .with_limit(Some(Duration::from_secs(300)));
        assert_eq!(
            error.to_string(),
            "upstream gpu-1:8000: no next token within 300s"
        );
        assert_eq!(error.status(), StatusCode::GATEWAY_TIMEOUT);
        assert!(!error.is_retryable());
    }

    #[test]
    fn a_refused_connection_is_unavailable_for_a_second_and_may_be_retried() {
        let error = Error::new(Kind::Refused, "gpu-1".into()).with_source("os error");
        assert_eq!(error.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(error.retry_after(), Some(Duration::from_secs(1)));
        assert!(error.is_retryable());
        assert_eq!(error.source().unwrap().to_string(), "os error");
    }

    #[test]
    fn a_connection_that_closed_is_not_retried() {
        assert!(!Error::new(Kind::Closed, "gpu-1".into()).is_retryable());
    }
}
