//! Who asks: tenants never share an answer.
//!
//! In trusted mode a proxy in front names the tenant in `x-tenant`, and a request without it is refused. Otherwise the
//! caller's own credentials tell tenants apart, and an `x-tenant` can only narrow what is shared further. The header goes no
//! further than here: the backend never sees it.
//!
//! # Back-pressure
//! As the inner service.
//!
//! # Cancellation
//! Nothing is held.
//!
//! # Errors
//! A response with status 401 in trusted mode without `x-tenant`; else the inner service's.
//!
//! # Panics
//! None.

use crate::config::types::Tenants;
use crate::errors::Refusal;
use bytes::Bytes;
use futures_util::future::{Either, Ready, ready};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// The header that names a tenant.
pub const X_TENANT: HeaderName = HeaderName::from_static("x-tenant");

/// What in a header's name says that it tells callers apart. Wide on purpose: a header too many costs a hit, one too few would
/// give one caller's answers to another.
const CREDENTIALS: [&str; 7] = [
    "auth",
    "key",
    "token",
    "secret",
    "credential",
    "session",
    "cookie",
];

/// A header that is of one request only, whatever its name says.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// What nearly every request has and is none: told apart without a look at its letters.
const USUAL: [HeaderName; 8] = [
    header::HOST,
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::ACCEPT,
    header::USER_AGENT,
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::ACCEPT_LANGUAGE,
];

/// Whether a header tells callers apart.
#[must_use]
pub fn is_credential(name: &HeaderName) -> bool {
    if *name == header::AUTHORIZATION {
        return true;
    }
    !USUAL.contains(name)
        && CREDENTIALS.iter().any(|word| name.as_str().contains(word))
        && *name != IDEMPOTENCY_KEY
}

/// The tenant's name, in a request's extensions.
#[derive(Clone, Debug)]
pub struct Tenant(pub HeaderValue);

/// Takes the tenant's name off each request.
#[derive(Clone, Copy, Debug)]
pub struct TenantLayer {
    mode: Tenants,
}

impl TenantLayer {
    /// Tenants told apart as `mode` says.
    #[must_use]
    pub const fn new(mode: Tenants) -> Self {
        Self { mode }
    }
}

impl<S> Layer<S> for TenantLayer {
    type Service = Named<S>;
    fn layer(&self, inner: S) -> Named<S> {
        Named {
            inner,
            mode: self.mode,
        }
    }
}

/// See the [module docs](self).
#[derive(Clone, Debug)]
pub struct Named<S> {
    inner: S,
    mode: Tenants,
}

/// What a service behind [`TenantLayer`] answers with.
pub type NamedBody<B> = http_body_util::Either<B, Full<Bytes>>;

impl<S, Q, B> Service<Request<Q>> for Named<S>
where
    S: Service<Request<Q>, Response = Response<B>>,
{
    type Response = Response<NamedBody<B>>;
    type Error = S::Error;
    type Future = Either<Admitted<S::Future>, Ready<Result<Self::Response, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Q>) -> Self::Future {
        match admit(self.mode, request.headers_mut()) {
            Ok(name) => {
                if let Some(name) = name {
                    request.extensions_mut().insert(Tenant(name));
                }
                Either::Left(Admitted {
                    call: self.inner.call(request),
                })
            }
            Err(refusal) => Either::Right(ready(Ok(refusal.into_response().map(NamedBody::Right)))),
        }
    }
}

pin_project! {
    /// A request with its tenant known.
    #[derive(Debug)]
    pub struct Admitted<F> {
        #[pin]
        call: F,
    }
}

impl<F, B, E> Future for Admitted<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<NamedBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project()
            .call
            .poll(cx)
            .map_ok(|response| response.map(NamedBody::Left))
    }
}

fn admit(mode: Tenants, headers: &mut HeaderMap) -> Result<Option<HeaderValue>, Refusal> {
    let several = headers.get_all(X_TENANT).iter().nth(1).is_some();
    let name = headers.remove(X_TENANT);
    let refuse = |status, code, message: &str| Err(Refusal::new(status, message).code(code));
    match (mode, name) {
        // Whoever stands in front added the name to one that was there: which of them is to be trusted cannot be told.
        (_, Some(_)) if several => refuse(
            StatusCode::BAD_REQUEST,
            "ambiguous_tenant",
            "x-tenant was sent more than once",
        ),
        (Tenants::Header, Some(name)) if !name.as_bytes().trim_ascii().is_empty() => Ok(Some(name)),
        (Tenants::Header, _) => refuse(
            StatusCode::UNAUTHORIZED,
            "missing_tenant",
            "the header x-tenant is missing: this gateway runs with tenants=header, and the proxy in front of it must name the tenant",
        ),
        (Tenants::Credentials, name) => Ok(name),
    }
}

/// What makes the tenant, as labelled parts of a key: in the order in which the headers came, those of one name together.
pub fn identity<'a>(
    mode: Tenants,
    name: Option<&'a HeaderValue>,
    headers: &'a HeaderMap,
) -> impl Iterator<Item = (&'a str, &'a [u8])> {
    let named = name.map(|name| ("x-tenant", name.as_bytes()));
    let credentials = headers
        .iter()
        .filter(move |(name, _)| mode == Tenants::Credentials && is_credential(name));
    named
        .into_iter()
        .chain(credentials.map(|(name, value)| (name.as_str(), value.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    #[test]
    fn trusted_mode_demands_a_name_and_ignores_credentials() {
        let mut nameless = headers(&[("authorization", "Bearer a")]);
        assert_eq!(
            admit(Tenants::Header, &mut nameless).unwrap_err().status(),
            StatusCode::UNAUTHORIZED
        );
        let mut named = headers(&[("authorization", "Bearer a"), ("x-tenant", "acme")]);
        let name = admit(Tenants::Header, &mut named).unwrap();
        assert!(named.get(X_TENANT).is_none());
        let identity: Vec<_> = identity(Tenants::Header, name.as_ref(), &named).collect();
        assert_eq!(identity, [("x-tenant", b"acme".as_slice())]);
    }

    #[test]
    fn a_name_that_is_blank_or_not_alone_is_refused() {
        let blank = admit(Tenants::Header, &mut headers(&[("x-tenant", "  ")]));
        assert_eq!(blank.unwrap_err().status(), StatusCode::UNAUTHORIZED);
        let mut two = HeaderMap::new();
        two.append(X_TENANT, HeaderValue::from_static("victim"));
        two.append(X_TENANT, HeaderValue::from_static("attacker"));
        assert_eq!(
            admit(Tenants::Header, &mut two).unwrap_err().status(),
            StatusCode::BAD_REQUEST
        );
    }

    #[test]
    fn every_header_that_looks_like_a_credential_is_one() {
        let sent = headers(&[
            ("authorization", "a"),
            ("x-goog-api-key", "b"),
            ("ocp-apim-subscription-key", "c"),
            ("x-auth-token", "d"),
            ("idempotency-key", "e"),
            ("user-agent", "f"),
        ]);
        assert_eq!(identity(Tenants::Credentials, None, &sent).count(), 4);
    }

    #[test]
    fn a_name_of_the_callers_own_only_narrows() {
        let mut named = headers(&[
            ("authorization", "Bearer a"),
            ("x-tenant", "acme"),
            ("cookie", "c"),
        ]);
        let name = admit(Tenants::Credentials, &mut named).unwrap();
        let identity: Vec<_> = identity(Tenants::Credentials, name.as_ref(), &named).collect();
        assert_eq!(identity.len(), 3);
    }
}
