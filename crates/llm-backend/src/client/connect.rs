//! Connecting: names, TCP, TLS, under one limit.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::GaiResolver;
use hyper_util::rt::TokioIo;
use tokio::time::{Sleep, sleep};
use tower::BoxError;
use tower::util::MapErr;
use tower_service::Service;

use super::classify;
use super::wire::Wired;
use crate::error::{Error, Kind};

#[cfg(feature = "rustls")]
type Secure = hyper_rustls::HttpsConnector<Tcp>;
#[cfg(not(feature = "rustls"))]
type Secure = Tcp;

/// A connection, secured where its URI says so.
pub(super) type Io = TokioIo<Wired<TokioIo<<Secure as Service<Uri>>::Response>>>;
pub(super) type Resolver = MapErr<GaiResolver, fn(io::Error) -> DnsError>;

/// Connects to an upstream; every error is an [`Error`].
#[derive(Clone, Debug)]
pub(super) struct Connector {
    inner: Secure,
    limit: Option<Duration>,
}

/// TCP alone.
#[derive(Clone, Debug)]
pub(super) struct Tcp {
    inner: HttpConnector<Resolver>,
}

pub(super) struct Connecting {
    inner: <Secure as Service<Uri>>::Future,
    limit: Option<Pin<Box<Sleep>>>,
    within: Option<Duration>,
    upstream: Arc<str>,
}

pub(super) struct TcpConnecting {
    inner: <HttpConnector<Resolver> as Service<Uri>>::Future,
    upstream: Arc<str>,
}

#[derive(Debug)]
pub(super) struct DnsError {
    source: io::Error,
}

// === impl Connector ===

impl Connector {
    pub(super) fn new(limit: Option<Duration>) -> Self {
        let tcp = Tcp::new();
        #[cfg(feature = "rustls")]
        let inner = hyper_rustls::HttpsConnectorBuilder::new()
            .with_webpki_roots()
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        #[cfg(not(feature = "rustls"))]
        let inner = tcp;
        Self { inner, limit }
    }
}

impl Service<Uri> for Connector {
    type Response = Io;
    type Error = Error;
    type Future = Connecting;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        // TCP connectors have no readiness.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Connecting {
        Connecting {
            upstream: authority(&uri),
            inner: self.inner.call(uri),
            limit: self.limit.map(|limit| Box::pin(sleep(limit))),
            within: self.limit,
        }
    }
}

impl Future for Connecting {
    type Output = Result<Io, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(result) = Pin::new(&mut self.inner).poll(cx) {
            return Poll::Ready(match result {
                Ok(io) => Ok(TokioIo::new(Wired::new(TokioIo::new(io)))),
                Err(error) => Err(failed(error, &self.upstream)),
            });
        }
        match &mut self.limit {
            Some(limit) => ready!(limit.as_mut().poll(cx)),
            None => return Poll::Pending,
        }
        let error = Error::new(Kind::ConnectTimeout, self.upstream.clone());
        Poll::Ready(Err(error.with_limit(self.within)))
    }
}

#[cfg(not(feature = "rustls"))]
fn failed(error: Error, _: &Arc<str>) -> Error {
    error
}

/// What is not TCP's error is TLS's.
#[cfg(feature = "rustls")]
fn failed(error: BoxError, upstream: &Arc<str>) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => *error,
        Err(error) => Error::new(Kind::Tls, upstream.clone()).with_source(error),
    }
}

fn authority(uri: &Uri) -> Arc<str> {
    uri.authority()
        .map_or("", |authority| authority.as_str())
        .into()
}

// === impl Tcp ===

impl Tcp {
    fn new() -> Self {
        let resolver = MapErr::new(
            GaiResolver::new(),
            DnsError::new as fn(io::Error) -> DnsError,
        );
        let mut inner = HttpConnector::new_with_resolver(resolver);
        // A token is a small packet that must not wait for the acknowledgement of the one before.
        inner.set_nodelay(true);
        inner.set_keepalive(Some(Duration::from_secs(60)));
        inner.enforce_http(cfg!(not(feature = "rustls")));
        Self { inner }
    }
}

impl Service<Uri> for Tcp {
    type Response = <HttpConnector<Resolver> as Service<Uri>>::Response;
    type Error = Error;
    type Future = TcpConnecting;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> TcpConnecting {
        TcpConnecting {
            upstream: authority(&uri),
            inner: self.inner.call(uri),
        }
    }
}

impl Future for TcpConnecting {
    type Output = Result<<Tcp as Service<Uri>>::Response, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.inner).poll(cx).map_err(|error| {
            let error: BoxError = error.into();
            let is_dns = classify::causes(&*error).any(|cause| cause.is::<DnsError>());
            classify::connect(error, is_dns, self.upstream.clone())
        })
    }
}

// === impl DnsError ===

impl DnsError {
    fn new(source: io::Error) -> Self {
        Self { source }
    }
}

impl std::fmt::Display for DnsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.source.fmt(f)
    }
}

impl std::error::Error for DnsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
