//! The stub as a server.

use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Stub;

/// Serves a stub over HTTP/1.1 until `shutdown` is ready.
///
/// Then no connection is accepted any more, and answers under way are finished. Dropped, the future closes every connection
/// at once.
pub async fn serve<F>(listener: TcpListener, stub: Stub, shutdown: F)
where
    F: Future,
{
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    while let Some(accepted) = accept(&listener, &mut connections, shutdown.as_mut()).await {
        let Ok(socket) = accepted else {
            // Out of file descriptors, or a peer that left at once: neither is a reason to stop.
            sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Without it the server still works, in larger pieces.
        let _ = socket.set_nodelay(true);
        let stub = stub.clone();
        let service = service_fn(move |request: hyper::Request<Incoming>| stub.answer(request));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
        connections.spawn(graceful.watch(connection));
    }
    drop(listener);
    graceful.shutdown().await;
}

/// The next connection, or none after the shutdown. Connections that ended are cleared away.
async fn accept<F, T>(
    listener: &TcpListener,
    connections: &mut JoinSet<T>,
    mut shutdown: Pin<&mut F>,
) -> Option<io::Result<TcpStream>>
where
    F: Future,
    T: 'static,
{
    std::future::poll_fn(|cx| {
        while let Poll::Ready(Some(_)) = connections.poll_join_next(cx) {}
        if shutdown.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        listener
            .poll_accept(cx)
            .map_ok(|(socket, _)| socket)
            .map(Some)
    })
    .await
}
