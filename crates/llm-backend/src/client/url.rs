//! Where a backend is.

use std::fmt;
use std::mem;
use std::str::FromStr;
use std::sync::Arc;

use http::header::HeaderValue;
use http::uri::{Authority, Parts, PathAndQuery, Scheme};
use http::{Request, Uri, header};

use super::path::{self, DotSegments};

/// The base URL of a backend: `http://host:8000`, `http://host:8000/v1`, `https://host/gpu-1/`.
///
/// With or without `/v1` at its end it means the same: the base ends where `/v1` begins, a request's whole path is appended.
///
/// | base | request | upstream |
/// |---|---|---|
/// | `http://h:8000` | `/v1/models` | `http://h:8000/v1/models` |
/// | `http://h:8000/v1` | `/v1/models` | `http://h:8000/v1/models` |
/// | `http://h:8000/v1/` | `/health` | `http://h:8000/health` |
/// | `http://h/gpu-1/` | `/v1/models?x=1` | `http://h/gpu-1/v1/models?x=1` |
/// | `http://h/openai/v1` | `/v1/models` | `http://h/openai/v1/models` |
/// | any | `/v1/../x`, `/v1/%2e/x` | none: see [`accepts`](Self::accepts) |
#[derive(Clone)]
pub struct BaseUrl {
    inner: Arc<Inner>,
}

struct Inner {
    scheme: Scheme,
    authority: Authority,
    /// What is put before a request's path: empty, or `/x` without a slash at its end.
    prefix: Box<str>,
    host: HeaderValue,
    name: Arc<str>,
}

/// This is not the base URL of a backend.
#[derive(Debug)]
pub struct InvalidUrl {
    reason: &'static str,
}

// === impl BaseUrl ===

impl BaseUrl {
    /// The upstream's `host` or `host:port`.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.inner.name
    }

    /// The authority, to be shared with errors.
    pub(super) fn name(&self) -> &Arc<str> {
        &self.inner.name
    }

    /// Whether a request's path can be appended to a base: not if it has dot segments (`.`, `..`, encoded or not), which lead
    /// out of it. A call with such a path is an error of the kind [`RequestPath`](crate::error::Kind::RequestPath) and sends
    /// nothing.
    ///
    /// ```
    /// use http::Uri;
    /// use llm_backend::client::BaseUrl;
    ///
    /// assert!(BaseUrl::accepts(&Uri::from_static("/v1/models/gpt-4.1")));
    /// assert!(!BaseUrl::accepts(&Uri::from_static("/v1/../../admin")));
    /// assert!(!BaseUrl::accepts(&Uri::from_static("/v1/%2e%2e/admin")));
    /// ```
    #[must_use]
    pub fn accepts(uri: &Uri) -> bool {
        path::refuse_dot_segments(uri).is_ok()
    }

    /// Points a request at the upstream: its URI and its `Host`. One that is refused is left as it is.
    pub(super) fn apply<B>(&self, request: &mut Request<B>) -> Result<(), DotSegments> {
        path::refuse_dot_segments(request.uri())?;
        // Taken, not cloned: the first clone of a path allocates.
        let asked = mem::take(request.uri_mut()).into_parts().path_and_query;
        let mut parts = Parts::default();
        parts.scheme = Some(self.inner.scheme.clone());
        parts.authority = Some(self.inner.authority.clone());
        parts.path_and_query = Some(self.join(asked));
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
        request
            .headers_mut()
            .insert(header::HOST, self.inner.host.clone());
        Ok(())
    }

    fn join(&self, asked: Option<PathAndQuery>) -> PathAndQuery {
        let asked = asked.unwrap_or_else(|| PathAndQuery::from_static("/"));
        if self.inner.prefix.is_empty() {
            return asked;
        }
        // Both halves are valid and the second begins with a slash; where it does not (`*`) there is nothing to join.
        PathAndQuery::try_from(format!("{}{asked}", self.inner.prefix)).unwrap_or(asked)
    }
}

impl FromStr for BaseUrl {
    type Err = InvalidUrl;

    fn from_str(text: &str) -> Result<Self, InvalidUrl> {
        let refuse = |reason| Err(InvalidUrl { reason });
        let Ok(uri) = text.parse::<Uri>() else {
            return refuse("not a URL");
        };
        if uri.query().is_some() {
            return refuse("a base URL has no query");
        }
        let Parts {
            scheme: Some(scheme),
            authority: Some(authority),
            path_and_query,
            ..
        } = uri.into_parts()
        else {
            return refuse("a base URL begins with http:// or https://");
        };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return refuse("the scheme is neither http nor https");
        }
        if authority.as_str().contains('@') {
            return refuse("a credential does not belong into a URL");
        }
        let Ok(host) = HeaderValue::from_str(authority.as_str()) else {
            return refuse("not a host");
        };
        let path = path_and_query
            .as_ref()
            .map_or("", PathAndQuery::as_str)
            .trim_end_matches('/');
        let prefix = path
            .strip_suffix("/v1")
            .unwrap_or(path)
            .trim_end_matches('/')
            .into();
        let name = authority.as_str().into();
        Ok(Self {
            inner: Arc::new(Inner {
                scheme,
                authority,
                prefix,
                host,
                name,
            }),
        })
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            scheme,
            authority,
            prefix,
            ..
        } = &*self.inner;
        write!(f, "{scheme}://{authority}{prefix}")
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({self})")
    }
}

// === impl InvalidUrl ===

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason)
    }
}

impl std::error::Error for InvalidUrl {}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(base: &str, path: &str) -> String {
        let mut request = Request::builder().uri(path).body(()).unwrap();
        let base = base.parse::<BaseUrl>().unwrap();
        base.apply(&mut request).unwrap();
        request.uri().to_string()
    }

    #[test]
    fn a_base_with_or_without_v1_means_the_same() {
        for base in [
            "http://h:8000",
            "http://h:8000/",
            "http://h:8000/v1",
            "http://h:8000/v1/",
        ] {
            assert_eq!(
                target(base, "/v1/models?a=b"),
                "http://h:8000/v1/models?a=b"
            );
            assert_eq!(target(base, "/health"), "http://h:8000/health");
        }
    }

    #[test]
    fn a_path_prefix_is_kept() {
        assert_eq!(
            target("http://h/gpu-1/", "/v1/models"),
            "http://h/gpu-1/v1/models"
        );
        assert_eq!(
            target("http://h/openai/v1", "/v1/models"),
            "http://h/openai/v1/models"
        );
        assert_eq!(
            target("http://h/xv1", "/v1/models"),
            "http://h/xv1/v1/models"
        );
    }

    #[test]
    fn an_absolute_request_goes_to_the_upstream_all_the_same() {
        assert_eq!(
            target("http://h/p", "http://elsewhere/v1/x"),
            "http://h/p/v1/x"
        );
    }

    #[test]
    fn a_path_that_leads_out_of_the_base_is_refused_and_the_request_left_alone() {
        let mut request = Request::builder().uri("/v1/../../x").body(()).unwrap();
        let base = "http://h/p/v1".parse::<BaseUrl>().unwrap();
        let refused = base.apply(&mut request).unwrap_err().to_string();
        assert!(refused.contains("/v1/../../x"), "{refused}");
        assert_eq!(request.uri(), "/v1/../../x");
        assert!(!request.headers().contains_key("host"));
    }

    #[test]
    fn the_host_header_is_the_upstreams() {
        let mut request = Request::builder()
            .header("host", "caller")
            .body(())
            .unwrap();
        "http://[::1]:8000"
            .parse::<BaseUrl>()
            .unwrap()
            .apply(&mut request)
            .unwrap();
        assert_eq!(request.headers()["host"], "[::1]:8000");
    }

    #[test]
    fn what_is_no_base_url_is_refused_with_a_reason() {
        for (url, reason) in [
            ("host:8000", "begins with http://"),
            ("/v1", "begins with http://"),
            ("ftp://h", "neither http nor https"),
            ("http://key@h", "credential"),
            ("http://h/?a=b", "no query"),
            ("http://a b", "not a URL"),
        ] {
            let error = url.parse::<BaseUrl>().unwrap_err().to_string();
            assert!(error.contains(reason), "{url}: {error}");
        }
    }
}
