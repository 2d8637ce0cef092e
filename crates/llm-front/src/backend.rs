//! Who answers: a server over HTTP, or the built-in stub.

use crate::config::Config;
use crate::config::types::Backend as Setting;
use crate::layers::tenant;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response};
use http_body::{Body, Frame, SizeHint};
use llm_backend::client::{self, BaseUrl, Credential, Limits, OpenAi};
use llm_backend::stub::{self, Stub};
use llm_backend::{Error, RequestBody};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower::BoxError;
use tower_service::Service;

/// Who answers.
#[derive(Clone, Debug)]
pub enum Backend {
    /// An OpenAI-compatible server.
    OpenAi {
        /// How it is reached.
        server: OpenAi,
        /// Whose credential it is shown.
        credential: Shown,
    },
    /// The built-in stub.
    Stub(Stub),
}

/// Whose credential a server is shown; the two are never mixed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shown {
    /// The caller's.
    Callers,
    /// The gateway's own, and nothing of the caller's.
    Own,
}

impl Backend {
    /// The one that `config` names.
    ///
    /// # Errors
    /// The URL or the credential cannot be used.
    pub fn new(config: &Config) -> Result<Self, BoxError> {
        let url = match &config.backend {
            Setting::Stub => return Ok(Self::Stub(Stub::default())),
            Setting::Url(url) => url,
            Setting::WithCredentials => {
                return Err("a backend URL must not carry credentials".into());
            }
        };
        let limits = Limits::none()
            .connect(config.connect_timeout.0)
            .headers(config.headers_timeout.0)
            .first_token(config.first_token_timeout.0)
            .idle(config.idle_timeout.0)
            .total(config.total_timeout.0.map(|total| total.0));
        let credential = match &config.backend_key.0 {
            Some(key) => Some(Credential::bearer(&key.0)?),
            None => None,
        };
        let base: BaseUrl = url.to_string().parse()?;
        let shown = if credential.is_some() {
            Shown::Own
        } else {
            Shown::Callers
        };
        let server = OpenAi::builder(base)
            .limits(limits)
            .credential(credential)
            .build();
        Ok(Self::OpenAi {
            server,
            credential: shown,
        })
    }
}

impl Service<Request<RequestBody>> for Backend {
    type Response = Response<BackendBody>;
    type Error = Error;
    type Future = BackendFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match self {
            Self::OpenAi { server, .. } => server.poll_ready(cx),
            Self::Stub(stub) => Service::<Request<RequestBody>>::poll_ready(stub, cx),
        }
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> BackendFuture {
        BackendFuture {
            call: match self {
                Self::OpenAi { server, credential } => {
                    if *credential == Shown::Own {
                        drop_credentials(request.headers_mut());
                    }
                    Call::OpenAi {
                        call: server.call(request),
                    }
                }
                Self::Stub(stub) => Call::Stub {
                    call: stub.call(request),
                },
            },
        }
    }
}

fn drop_credentials(headers: &mut HeaderMap) {
    let names: Vec<HeaderName> = headers
        .keys()
        .filter(|name| tenant::is_credential(name))
        .cloned()
        .collect();
    for name in names {
        headers.remove(name);
    }
}

pin_project! {
    /// An answer to come.
    pub struct BackendFuture {
        #[pin]
        call: Call,
    }
}

pin_project! {
    #[project = CallProj]
    enum Call {
        OpenAi { #[pin] call: <OpenAi as Service<Request<RequestBody>>>::Future },
        Stub { #[pin] call: stub::ResponseFuture<RequestBody> },
    }
}

impl std::fmt::Debug for BackendFuture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackendFuture").finish_non_exhaustive()
    }
}

impl Future for BackendFuture {
    type Output = Result<Response<BackendBody>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = match self.project().call.project() {
            CallProj::OpenAi { call } => ready!(call.poll(cx))?.map(|body| Source::OpenAi { body }),
            CallProj::Stub { call } => ready!(call.poll(cx))?.map(|body| Source::Stub { body }),
        };
        Poll::Ready(Ok(response.map(|source| BackendBody { source })))
    }
}

pin_project! {
    /// The body of an answer.
    #[derive(Debug)]
    pub struct BackendBody {
        #[pin]
        source: Source,
    }
}

pin_project! {
    #[derive(Debug)]
    #[project = SourceProj]
    enum Source {
        OpenAi { #[pin] body: client::Body },
        Stub { #[pin] body: stub::Body },
    }
}

impl Body for BackendBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match self.project().source.project() {
            SourceProj::OpenAi { body } => body.poll_frame(cx),
            SourceProj::Stub { body } => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::OpenAi { body } => body.is_end_stream(),
            Source::Stub { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::OpenAi { body } => body.size_hint(),
            Source::Stub { body } => body.size_hint(),
        }
    }
}
