//! Listens, serves, and ends well: on SIGTERM or Ctrl-C nothing new is accepted, and open answers may finish.

use crate::admin::Reply;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio_io_timeout::TimeoutStream;
use tower_service::Service;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 8192;

/// Longest wait for a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Listens on `address`.
///
/// # Errors
/// The address cannot be had.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// How long a server is patient.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// With a caller who does not read on.
    pub send: Duration,
    /// With open answers, once it stops.
    pub drain: Duration,
}

/// Serves until `stop` resolves, then lets open answers run on for at most the drain, or until `stop_now` resolves.
pub async fn serve<S>(
    listener: TcpListener,
    service: S,
    stop: impl Future<Output = ()>,
    stop_now: impl Future<Output = ()>,
    patience: Patience,
) where
    S: Service<Request<Incoming>, Response = Reply, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        // Correctness: biased, so that a flood of connections cannot keep the stop from being seen.
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => spawn_connection(stream, service.clone(), patience.send, &graceful),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                // Out of descriptors or memory: the next accept would fail at once.
                tracing::warn!(%error, "cannot accept: waiting for connections to close");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let drain = patience.drain;
    tracing::info!(
        connections = graceful.count(),
        ?drain,
        "stopping: open answers may finish"
    );
    tokio::select! {
        biased;
        () = graceful.shutdown() => tracing::info!("stopped"),
        () = stop_now => tracing::warn!("stopped at once, as told a second time: answers were cut"),
        () = tokio::time::sleep(drain) => tracing::warn!("stopped after {drain:?} (--drain): answers were cut"),
    }
}

fn spawn_connection<S>(stream: TcpStream, service: S, send: Duration, graceful: &GracefulShutdown)
where
    S: Service<Request<Incoming>, Response = Reply, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    // Without it small frames wait for the peer's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "connection closed before it was served");
        return;
    }
    // Whoever does not read holds back its backend: not for ever.
    let mut stream = Box::pin(TimeoutStream::new(stream));
    stream.as_mut().set_write_timeout_pinned(Some(send));
    // Never with `pipeline_flush`: it switches off the back-pressure of a caller who does not read.
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "connection ended");
        }
    });
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

/// Resolves on the next SIGTERM or Ctrl-C.
pub async fn stop_signal() {
    let mut terminate = match signal(SignalKind::terminate()) {
        Ok(terminate) => terminate,
        Err(error) => {
            tracing::error!(%error, "cannot listen for SIGTERM");
            return std::future::pending().await;
        }
    };
    tokio::select! {
        _ = terminate.recv() => {}
        interrupted = tokio::signal::ctrl_c() => {
            if let Err(error) = interrupted {
                tracing::error!(%error, "cannot listen for Ctrl-C");
                terminate.recv().await;
            }
        }
    }
}
