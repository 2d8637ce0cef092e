//! The service.

use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body::Body as HttpBody;
use tower::BoxError;
use tower_service::Service;

use super::future::ResponseFuture;
use super::limits::Clock;
use super::{BaseUrl, Body, Credential, Http, Limits, classify, headers};
use crate::RequestBody;
use crate::error::{Error, Kind};

/// An OpenAI-compatible server over HTTP.
///
/// See the [module docs](super).
#[derive(Clone, Debug)]
pub struct OpenAi<C = Http> {
    client: C,
    base: BaseUrl,
    limits: Limits,
    credential: Option<Credential>,
}

/// Builds an [`OpenAi`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    base: BaseUrl,
    limits: Limits,
    credential: Option<Credential>,
}

// === impl OpenAi ===

impl OpenAi {
    /// The server at `base`, over the default client and under the default [`Limits`].
    #[must_use]
    pub fn new(base: BaseUrl) -> Self {
        Self::builder(base).build()
    }

    /// Limits and a credential for the server at `base`.
    pub fn builder(base: BaseUrl) -> Builder {
        Builder {
            base,
            limits: Limits::default(),
            credential: None,
        }
    }
}

impl<C> OpenAi<C> {
    /// Where the server is.
    #[must_use]
    pub const fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// The HTTP client.
    #[must_use]
    pub const fn get_ref(&self) -> &C {
        &self.client
    }

    /// The HTTP client.
    #[must_use]
    pub const fn get_mut(&mut self) -> &mut C {
        &mut self.client
    }

    /// The HTTP client.
    #[must_use]
    pub fn into_inner(self) -> C {
        self.client
    }
}

impl<C, B> Service<Request<RequestBody>> for OpenAi<C>
where
    C: Service<Request<RequestBody>, Response = Response<B>>,
    C::Error: Into<BoxError>,
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body<B>>;
    type Error = Error;
    type Future = ResponseFuture<C::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.client
            .poll_ready(cx)
            .map_err(|error| classify::head(error.into(), self.base.name()))
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> ResponseFuture<C::Future> {
        let clock = Clock::start(self.limits);
        headers::forward(&mut request, self.credential.as_ref());
        if let Err(refused) = self.base.apply(&mut request) {
            let error = Error::new(Kind::RequestPath, self.base.name().clone());
            return ResponseFuture::refused(error.with_source(refused));
        }
        // Whatever the caller speaks, this speaks HTTP/1.1.
        *request.version_mut() = Version::HTTP_11;
        ResponseFuture::new(self.client.call(request), clock, self.base.name().clone())
    }
}

// === impl Builder ===

impl Builder {
    /// Sets the time limits.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sends this credential, and none of the caller's.
    pub fn credential(mut self, credential: impl Into<Option<Credential>>) -> Self {
        self.credential = credential.into();
        self
    }

    /// Builds over the default client.
    #[must_use]
    pub fn build(self) -> OpenAi {
        let client = Http::new(self.limits.connect);
        self.build_with(client)
    }

    /// Builds over any HTTP client service.
    #[must_use]
    pub fn build_with<C>(self, client: C) -> OpenAi<C> {
        let Self {
            base,
            limits,
            credential,
        } = self;
        OpenAi {
            client,
            base,
            limits,
            credential,
        }
    }
}
