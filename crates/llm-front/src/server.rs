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

/// Serves until `stop` resolves, then lets open answers run on for at most `drain`.
pub async fn serve<S>(
    listener: TcpListener,
    service: S,
    stop: impl Future<Output = ()>,
    drain: Duration,
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
            Ok((stream, _)) => spawn_connection(stream, service.clone(), &graceful),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                // Out of descriptors or memory: the next accept would fail at once.
                tracing::warn!(%error, "cannot accept: waiting for connections to close");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let open = graceful.count();
    tracing::info!(
        connections = open,
        ?drain,
        "stopping: letting open answers finish"
    );
    match tokio::time::timeout(drain, graceful.shutdown()).await {
        Ok(()) => tracing::info!("stopped"),
        Err(_) => tracing::warn!("stopped with answers unfinished after {drain:?} (--drain)"),
    }
}

fn spawn_connection<S>(stream: TcpStream, service: S, graceful: &GracefulShutdown)
where
    S: Service<Request<Incoming>, Response = Reply, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    // Without it small frames wait for the peer's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "connection closed before it was served");
        return;
    }
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

/// Resolves on SIGTERM or Ctrl-C.
pub async fn stop_signal() {
    let interrupt = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::error!(%error, "cannot listen for Ctrl-C");
            std::future::pending::<()>().await;
        }
    };
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut terminate) => {
                terminate.recv().await;
            }
            Err(error) => {
                tracing::error!(%error, "cannot listen for SIGTERM");
                std::future::pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
