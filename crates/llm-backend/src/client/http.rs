//! The default HTTP client: pooled connections, one retry where a pooled connection was stale.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ::http::uri::Authority;
use ::http::{HeaderMap, Method, Request, Response, Uri};
use hyper::body::Incoming;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::Instant;
use tower_service::Service;

use super::classify;
use super::connect::Connector;
use super::wire::Wire;
use crate::RequestBody;
use crate::error::Error;

/// How long an unused connection is kept. vLLM and llama.cpp close theirs after 5 s; who closes first does not find out by a
/// lost request.
const IDLE: Duration = Duration::from_secs(4);

/// How long after the call a lost connection may still have been stale. The server of one that was answers the request with a
/// reset, a round trip later; whoever is silent for longer may have begun to work on it. Half a second is a round trip to
/// anywhere on earth, with room for a lost packet.
const STALE: Duration = Duration::from_millis(500);

/// An HTTP/1.1 client with a pool of connections: the default one of [`OpenAi`](super::OpenAi).
///
/// A request that a *reused* connection lost before any byte of an answer, and within 500 ms of the call, is sent once more, on
/// a new connection, if its body can be replayed: the server closed the idle connection while the request was on its way. What a
/// *fresh* connection lost is never sent again, and neither is what was answered by as much as one byte or was lost later: the
/// server may have served it.
///
/// Clones share the pool. Always ready.
#[derive(Clone)]
pub struct Http {
    clients: Arc<Clients>,
}

struct Clients {
    pooled: Client<Connector, RequestBody>,
    /// Never reuses a connection.
    fresh: Client<Connector, RequestBody>,
}

/// The response to come from [`Http`].
#[must_use = "futures do nothing unless polled"]
pub struct Sending {
    response: legacy::ResponseFuture,
    upstream: Option<Authority>,
    again: Option<Again>,
}

/// The same request once more.
struct Again {
    called: Instant,
    clients: Arc<Clients>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: RequestBody,
}

// === impl Http ===

impl Http {
    /// A client whose connections are made within `limit`, name resolution and TLS included.
    #[must_use]
    pub fn new(limit: impl Into<Option<Duration>>) -> Self {
        let connector = Connector::new(limit.into());
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE);
        let pooled = builder.build(connector.clone());
        let fresh = builder.pool_max_idle_per_host(0).build(connector);
        Self {
            clients: Arc::new(Clients { pooled, fresh }),
        }
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

impl Service<Request<RequestBody>> for Http {
    type Response = Response<Incoming>;
    type Error = Error;
    type Future = Sending;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Sending {
        let again = request.body().try_clone().map(|body| Again {
            called: Instant::now(),
            clients: self.clients.clone(),
            method: request.method().clone(),
            uri: request.uri().clone(),
            headers: request.headers().clone(),
            body,
        });
        Sending {
            upstream: request.uri().authority().cloned(),
            response: self.clients.pooled.request(request),
            again,
        }
    }
}

// === impl Sending ===

impl Future for Sending {
    type Output = Result<Response<Incoming>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let error = match ready!(Pin::new(&mut self.response).poll(cx)) {
                Ok(mut response) => {
                    if let Some(wire) = response.extensions_mut().remove::<Wire>() {
                        wire.answered();
                    }
                    return Poll::Ready(Ok(response));
                }
                Err(error) => error,
            };
            match self.again.take().filter(Again::is_early) {
                Some(again) if was_stale(&error) => self.response = again.send(),
                _ => {
                    let upstream = self.upstream.as_ref().map_or("", Authority::as_str);
                    return Poll::Ready(Err(classify::head(error.into(), &upstream.into())));
                }
            }
        }
    }
}

impl fmt::Debug for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").finish_non_exhaustive()
    }
}

fn was_stale(error: &legacy::Error) -> bool {
    let Some(connected) = error.connect_info() else {
        return false;
    };
    let mut extras = ::http::Extensions::new();
    connected.get_extras(&mut extras);
    extras.get::<Wire>().is_some_and(Wire::was_stale)
}

// === impl Again ===

impl Again {
    fn is_early(&self) -> bool {
        self.called.elapsed() <= STALE
    }

    fn send(self) -> legacy::ResponseFuture {
        let mut request = Request::new(self.body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.headers_mut() = self.headers;
        self.clients.fresh.request(request)
    }
}
