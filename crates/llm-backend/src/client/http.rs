//! The default HTTP client: pooled connections, one retry where a pooled connection was stale.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ::http::header::{self, HeaderMap, HeaderValue};
use ::http::{Request, Response};
use tokio::time::Instant;
use tower_service::Service;

use super::classify;
use super::connect::Connector;
use super::connection::{Connection, Destination};
use super::exchange::{Exchange, Lost};
use super::incoming::Incoming;
use super::pool::Pool;
use crate::RequestBody;
use crate::error::Error;

/// How long after the call a lost connection may still have been stale. The server of one that was answers the request with a
/// reset, a round trip later; whoever is silent for longer may have begun to work on it. Half a second is a round trip to
/// anywhere on earth, with room for a lost packet.
const STALE: Duration = Duration::from_millis(500);

/// An HTTP/1.1 client with a pool of connections: the default one of [`OpenAi`](super::OpenAi).
///
/// A connection is driven by whoever waits for its answer, in the same task; only where a request is still being sent while its
/// answer may come is there a task of its own.
///
/// A request that a *reused* connection lost before any byte of an answer, and within 500 ms of the call, is sent once more, on
/// a new connection, if its body can be replayed: the server closed the idle connection while the request was on its way. What a
/// *fresh* connection lost is never sent again, and neither is what was answered by as much as one byte or was lost later: the
/// server may have served it.
///
/// Clones share the pool. Always ready.
#[derive(Clone)]
pub struct Http {
    inner: Arc<Inner>,
}

struct Inner {
    connector: Connector,
    pool: Pool,
}

/// The response to come from [`Http`].
#[must_use = "futures do nothing unless polled"]
pub struct Sending {
    inner: Arc<Inner>,
    to: Destination,
    called: Instant,
    state: State,
}

enum State {
    /// There is no connection yet.
    Connecting(Connecting),
    Sent {
        exchange: Exchange,
        /// The same request once more.
        again: Option<Box<Request<RequestBody>>>,
    },
}

type Connecting = Pin<Box<dyn Future<Output = Result<Ready, Error>> + Send>>;
/// A connection, and what is to be sent over it.
type Ready = (Box<Connection>, Request<RequestBody>);

// === impl Http ===

impl Http {
    /// A client whose connections are made within `limit`, name resolution and TLS included.
    #[must_use]
    pub fn new(limit: impl Into<Option<Duration>>) -> Self {
        Self {
            inner: Arc::new(Inner {
                connector: Connector::new(limit.into()),
                pool: Pool::default(),
            }),
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

    fn call(&mut self, mut request: Request<RequestBody>) -> Sending {
        let called = Instant::now();
        let to = Destination::take(request.uri_mut());
        name_host(request.headers_mut(), &to);
        Sending {
            state: self.inner.begin(&to, request, called),
            inner: self.inner.clone(),
            to,
            called,
        }
    }
}

/// Every request has a `Host` (RFC 9112, section 3.2).
fn name_host(headers: &mut HeaderMap, to: &Destination) {
    if let header::Entry::Vacant(entry) = headers.entry(header::HOST)
        && let Ok(host) = HeaderValue::from_str(to.name())
    {
        entry.insert(host);
    }
}

// === impl Inner ===

impl Inner {
    /// Sends a request over an idle connection, or else over the first that there is.
    fn begin(&self, to: &Destination, request: Request<RequestBody>, now: Instant) -> State {
        if let Some(connection) = self.pool.take(to, now) {
            return self.send(connection, request);
        }
        let (to, pool) = (to.clone(), self.pool.clone());
        let mut open = Box::pin(self.open(&to));
        State::Connecting(Box::pin(async move {
            let connection = tokio::select! {
                biased;
                connection = pool.freed(&to) => {
                    // There was need of one more, and there will be: it is not broken off half-way.
                    tokio::spawn(async move {
                        if let Ok(connection) = open.await {
                            pool.put(connection);
                        }
                    });
                    connection
                }
                opened = &mut open => opened?,
            };
            Ok((connection, request))
        }))
    }

    /// Sends a request over a connection that nobody has used.
    fn begin_afresh(&self, to: &Destination, request: Request<RequestBody>) -> State {
        let open = self.open(to);
        State::Connecting(Box::pin(async move { Ok((open.await?, request)) }))
    }

    fn open(
        &self,
        to: &Destination,
    ) -> impl Future<Output = Result<Box<Connection>, Error>> + Send + use<> {
        Connection::open(self.connector.clone(), to.clone())
    }

    fn send(&self, connection: Box<Connection>, request: Request<RequestBody>) -> State {
        // What a fresh connection loses is lost.
        let again = match connection.is_reused() {
            true => try_clone(&request).map(Box::new),
            false => None,
        };
        State::Sent {
            exchange: Exchange::begin(connection, request, &self.pool),
            again,
        }
    }
}

fn try_clone(request: &Request<RequestBody>) -> Option<Request<RequestBody>> {
    let mut again = Request::new(request.body().try_clone()?);
    *again.method_mut() = request.method().clone();
    *again.uri_mut() = request.uri().clone();
    *again.headers_mut() = request.headers().clone();
    Some(again)
}

// === impl Sending ===

impl Future for Sending {
    type Output = Result<Response<Incoming>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self {
            inner,
            to,
            called,
            state,
        } = &mut *self;
        loop {
            let (exchange, again) = match state {
                State::Connecting(connecting) => {
                    let (connection, request) = ready!(connecting.as_mut().poll(cx))?;
                    *state = inner.send(connection, request);
                    continue;
                }
                State::Sent { exchange, again } => (exchange, again),
            };
            let Lost {
                error,
                unsent,
                stale,
            } = match ready!(exchange.poll(cx, &inner.pool)) {
                Ok(response) => return Poll::Ready(Ok(response)),
                Err(lost) => lost,
            };
            *state = match (unsent, again.take()) {
                // Not one byte of it was written.
                (Some(request), _) if stale => inner.begin(to, request, Instant::now()),
                (None, Some(request)) if stale && called.elapsed() <= STALE => {
                    inner.begin_afresh(to, *request)
                }
                _ => {
                    let error = classify::head(error.into(), &to.name().into());
                    return Poll::Ready(Err(error));
                }
            };
        }
    }
}

impl fmt::Debug for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").finish_non_exhaustive()
    }
}
