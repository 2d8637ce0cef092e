//! The service.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::header::{self, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body as HttpBody;
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};
use tower::BoxError;
use tower_service::Service;

use super::answer;
use super::body::{Body, Clock, Stream, Then};
use super::events::Events;
use super::request::{Call, Endpoint};
use super::settings::Settings;
use super::stats::{Counters, Stats, Work};
use crate::error::{Error, Kind};

/// The largest request that is read.
const MAX_BODY: usize = 256 << 20;

/// A deterministic stand-in for an OpenAI-compatible server.
///
/// See the [module docs](super). Clones share their counters.
#[derive(Clone, Debug, Default)]
pub struct Stub {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    settings: Settings,
    counters: Arc<Counters>,
}

pin_project! {
    /// The answer to come of a [`Stub`].
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<B> {
        shared: Arc<Shared>,
        #[pin]
        state: State<B>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<B> {
        Now { response: Option<Response<Body>> },
        Collect { endpoint: Endpoint, #[pin] body: B, read: Vec<u8> },
        Wait { sleep: Pin<Box<Sleep>>, reply: Option<Reply> },
    }
}

/// What is answered after the wait.
enum Reply {
    Error {
        status: StatusCode,
        retry_after: Option<u64>,
    },
    Drop,
    Work {
        call: Box<Call>,
        work: Work,
    },
}

// === impl Stub ===

impl Stub {
    /// A stub of these settings.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            shared: Arc::new(Shared {
                settings,
                counters: Arc::default(),
            }),
        }
    }

    /// What it has done.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.counters.stats()
    }

    /// Forgets what it has done, but for the work in flight.
    pub fn reset(&self) {
        self.shared.counters.reset();
    }

    /// Answers a request.
    pub(super) fn answer<B>(&self, request: Request<B>) -> ResponseFuture<B> {
        let (parts, body) = request.into_parts();
        let state = match self.route(&parts) {
            Ok(endpoint) => {
                self.shared.counters.request();
                State::Collect {
                    endpoint,
                    body,
                    read: Vec::new(),
                }
            }
            Err(response) => State::Now {
                response: Some(*response),
            },
        };
        ResponseFuture {
            shared: self.shared.clone(),
            state,
        }
    }

    /// The endpoint of work, or the answer of another.
    fn route(&self, parts: &Parts) -> Result<Endpoint, Box<Response<Body>>> {
        let (method, endpoint) = match parts.uri.path() {
            "/v1/chat/completions" => (Method::POST, Ok(Endpoint::Chat)),
            "/v1/completions" => (Method::POST, Ok(Endpoint::Completions)),
            "/v1/embeddings" => (Method::POST, Ok(Endpoint::Embeddings)),
            path @ ("/v1/models" | "/health" | "/stats") => (Method::GET, Err(path)),
            path @ "/reset" => (Method::POST, Err(path)),
            path => {
                let message = format!("there is no {path}");
                return Err(Box::new(answer::error(StatusCode::NOT_FOUND, &message)));
            }
        };
        if parts.method != method {
            let message = format!("the method is {method}");
            return Err(Box::new(answer::error(
                StatusCode::METHOD_NOT_ALLOWED,
                &message,
            )));
        }
        endpoint.map_err(|path| {
            Box::new(match path {
                "/v1/models" => answer::models(),
                "/stats" => {
                    let stats = serde_json::to_vec(&self.stats()).unwrap_or_default();
                    answer::json(StatusCode::OK, stats)
                }
                "/reset" => {
                    self.reset();
                    answer::json(StatusCode::OK, "{}")
                }
                _ => answer::json(StatusCode::OK, r#"{"status":"ok"}"#),
            })
        })
    }
}

impl<B> Service<Request<B>> for Stub
where
    B: HttpBody,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = ResponseFuture<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<B> {
        self.answer(request)
    }
}

// === impl ResponseFuture ===

impl<B> Future for ResponseFuture<B>
where
    B: HttpBody,
    B::Error: Into<BoxError>,
{
    type Output = Result<Response<Body>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let next = match this.state.as_mut().project() {
                StateProj::Now { response } => {
                    let response = response.take();
                    return Poll::Ready(Ok(
                        response.expect("a future is not polled after it is done")
                    ));
                }
                StateProj::Collect {
                    endpoint,
                    body,
                    read,
                } => match ready!(collect(body, read, cx)) {
                    Ok(()) => this.shared.begin(*endpoint, read),
                    Err((status, message)) => {
                        this.shared.counters.failed();
                        State::Now {
                            response: Some(answer::error(status, &message)),
                        }
                    }
                },
                StateProj::Wait { sleep, reply } => {
                    ready!(sleep.as_mut().poll(cx));
                    let reply = reply
                        .take()
                        .expect("a future is not polled after it is done");
                    return Poll::Ready(this.shared.finish(reply));
                }
            };
            this.state.set(next);
        }
    }
}

impl<B> std::fmt::Debug for ResponseFuture<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}

// === impl Shared ===

impl Shared {
    /// Reads the request, and decides what to wait for.
    fn begin<B>(&self, endpoint: Endpoint, body: &[u8]) -> State<B> {
        let call = match Call::parse(endpoint, body, &self.settings) {
            Ok(call) => call,
            Err(message) => {
                self.counters.failed();
                let response = answer::error(StatusCode::BAD_REQUEST, &message);
                return State::Now {
                    response: Some(response),
                };
            }
        };
        let script = &call.script;
        let failing = match script.fail_first {
            Some(count) if self.counters.fails(&call.model, count) => {
                Some(script.status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE))
            }
            Some(_) => None,
            None => script.status,
        };
        let (delay, reply) = if let Some(status) = failing {
            self.counters.failed();
            (
                Duration::ZERO,
                Reply::Error {
                    status,
                    retry_after: script.retry_after,
                },
            )
        } else if script.drop {
            self.counters.failed();
            (Duration::ZERO, Reply::Drop)
        } else {
            let items = call.prompts.len();
            let work = self.counters.work(items);
            let delay = call.script.delay;
            return State::wait(
                delay.unwrap_or_else(|| self.settings.cost(items)),
                Reply::Work {
                    call: Box::new(call),
                    work,
                },
            );
        };
        State::wait(script.delay.unwrap_or(delay), reply)
    }

    fn finish(&self, reply: Reply) -> Result<Response<Body>, Error> {
        match reply {
            Reply::Drop => Err(Error::new(Kind::Closed, "stub".into())),
            Reply::Error {
                status,
                retry_after,
            } => {
                let mut response = answer::error(status, "the stub was told to fail");
                if let Some(seconds) = retry_after {
                    let seconds = HeaderValue::from(seconds);
                    response.headers_mut().insert(header::RETRY_AFTER, seconds);
                }
                Ok(response)
            }
            Reply::Work { call, work } if call.stream.is_some() => Ok(self.stream(&call, work)),
            Reply::Work { call, work } => Ok(self.whole(&call, work)),
        }
    }

    fn whole(&self, call: &Call, mut work: Work) -> Response<Body> {
        let bytes = Bytes::from(answer::whole(call, &self.settings));
        let then = match (call.script.cut, call.script.stall) {
            (Some(_), _) => Then::Cut,
            (None, Some(_)) => Then::Silence,
            (None, None) => {
                work.complete();
                return answer::json(StatusCode::OK, bytes);
            }
        };
        answer::json(StatusCode::OK, Bytes::new()).map(|_| Body::half(bytes, then, work))
    }

    fn stream(&self, call: &Call, work: Work) -> Response<Body> {
        let script = &call.script;
        let mut response = Response::new(Body::stream(Stream {
            events: Events::new(call, &self.settings),
            work,
            pace: script.pace.unwrap_or(self.settings.pace),
            comments: script.comments,
            split: script.split,
            cut: script.cut,
            stall: script.stall,
            error_event: script.error_event,
            clock: Clock::start(),
            sent: 0,
            rest: Bytes::new(),
            behind: None,
        }));
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        );
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

// === impl State ===

impl<B> State<B> {
    fn wait(delay: Duration, reply: Reply) -> Self {
        Self::Wait {
            sleep: Box::pin(sleep(delay)),
            reply: Some(reply),
        }
    }
}

/// Reads a body to its end.
fn collect<B>(
    mut body: Pin<&mut B>,
    read: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> Poll<Result<(), (StatusCode, String)>>
where
    B: HttpBody,
    B::Error: Into<BoxError>,
{
    while let Some(frame) = ready!(body.as_mut().poll_frame(cx)) {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                return Poll::Ready(Err((StatusCode::BAD_REQUEST, error.into().to_string())));
            }
        };
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        if data.remaining() > MAX_BODY - read.len() {
            let message = format!("the body is larger than {MAX_BODY} bytes");
            return Poll::Ready(Err((StatusCode::PAYLOAD_TOO_LARGE, message)));
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            read.extend_from_slice(chunk);
            let length = chunk.len();
            data.advance(length);
        }
    }
    Poll::Ready(Ok(()))
}
