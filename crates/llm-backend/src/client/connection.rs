//! One connection.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use ::http::uri::{Authority, Parts, PathAndQuery, Scheme};
use ::http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, Builder, SendRequest};
use tower_service::Service;

use super::bell::Bell;
use super::classify;
use super::connect::{Connector, Io};
use super::wire::Ear;
use crate::RequestBody;
use crate::error::Error;

/// What is read at once, and what the head of a response may have.
///
/// A frame is a slice of what was read: a reader that rests holds that much, and not the 400 KiB that hyper goes up to.
const READ: usize = 64 << 10;

/// The server at the other end. One without a name cannot be connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Destination {
    scheme: Option<Scheme>,
    authority: Option<Authority>,
}

/// An HTTP/1.1 connection.
pub(super) struct Connection {
    to: Destination,
    sender: SendRequest<RequestBody>,
    io: http1::Connection<Io, RequestBody>,
    ear: Ear,
    bell: Arc<Bell>,
    /// That of the bell.
    waker: Waker,
    /// Whether it has been idle.
    reused: bool,
}

/// A response's head and body, or why there is none.
pub(super) type Answer = Result<Response<Incoming>, TrySendError<Request<RequestBody>>>;

// === impl Destination ===

impl Destination {
    /// Takes it off a URI, whose path is left.
    pub(super) fn take(uri: &mut Uri) -> Self {
        let Parts {
            scheme,
            authority,
            path_and_query,
            ..
        } = mem::take(uri).into_parts();
        let mut path = Parts::default();
        path.path_and_query = path_and_query;
        // A path alone is a URI; without one it is `/`.
        *uri = Uri::from_parts(path).unwrap_or_default();
        Self { scheme, authority }
    }

    /// `host` or `host:port`.
    pub(super) fn name(&self) -> &str {
        self.authority.as_ref().map_or("", Authority::as_str)
    }

    fn uri(&self) -> Uri {
        let mut parts = Parts::default();
        parts.scheme = self.scheme.clone();
        parts.authority = self.authority.clone();
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
        Uri::from_parts(parts).unwrap_or_default()
    }
}

// === impl Connection ===

impl Connection {
    /// Makes a new one.
    pub(super) async fn open(
        mut connector: Connector,
        to: Destination,
    ) -> Result<Box<Self>, Error> {
        let io = connector.call(to.uri()).await?;
        let ear = io.inner().ear();
        let opened = Builder::new().max_buf_size(READ).handshake(io).await;
        let (sender, io) =
            opened.map_err(|error| classify::head(error.into(), &to.name().into()))?;
        let bell = Arc::new(Bell::default());
        Ok(Box::new(Self {
            to,
            sender,
            io,
            ear,
            waker: bell.clone().into(),
            bell,
            reused: false,
        }))
    }

    pub(super) fn to(&self) -> &Destination {
        &self.to
    }

    /// Whether it has been idle before the request that it has now: its server may have closed it meanwhile.
    pub(super) fn is_reused(&self) -> bool {
        self.reused
    }

    /// What it has heard since the request that it has now.
    pub(super) fn ear(&self) -> Ear {
        self.ear.clone()
    }

    /// Sends a request, as far as it goes without waiting for the network: the rest is up to whoever drives it.
    pub(super) fn send(
        &mut self,
        request: Request<RequestBody>,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
        self.ear.listen();
        self.bell.ring();
        Box::pin(self.sender.try_send_request(request))
    }

    /// Lets it read and write. Ready once it is closed.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // What went wrong, whoever waits for the answer is told.
        Pin::new(&mut self.io).poll(cx).map(drop)
    }

    /// Lets it read and write, and ring its bell when it can go on. Ready once it is closed.
    pub(super) fn poll_ringing(&mut self) -> Poll<()> {
        let Self { io, waker, .. } = self;
        Pin::new(io).poll(&mut Context::from_waker(waker)).map(drop)
    }

    /// There is something to do for it.
    pub(super) fn ring(&self) {
        self.bell.ring();
    }

    /// Whether there is something to do for it. If not, `sleeper` is woken when there is.
    pub(super) fn rang_or_wakes(&self, sleeper: &Waker) -> bool {
        self.bell.rang_or_wakes(sleeper)
    }

    /// Whether its request has been sent and its answer read, as far as is known.
    pub(super) fn is_idle(&self) -> bool {
        self.sender.is_ready()
    }

    /// Whether it can be used again. It then waits for its next request, and nobody for it.
    pub(super) fn rest(&mut self) -> bool {
        // If it is not idle after this, its request is still being sent, and nobody needs it any more.
        let is_idle = self.is_idle() || self.poll_ringing().is_pending() && self.is_idle();
        self.bell.hush();
        self.reused = true;
        is_idle
    }

    /// Whether it can still be used. If its bell has rung, there is something to read: most likely, the end.
    pub(super) fn is_alive(&mut self) -> bool {
        !self.bell.rang() || self.poll_ringing().is_pending() && self.is_idle()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("to", &self.to)
            .field("reused", &self.reused)
            .finish_non_exhaustive()
    }
}
