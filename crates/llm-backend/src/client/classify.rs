//! What an HTTP client's error means.

use std::error::Error as StdError;
use std::io;
use std::iter;
use std::sync::Arc;

use tower::BoxError;

use crate::error::{Error, Kind};

/// An error before the response's head.
pub(super) fn head(error: BoxError, upstream: &Arc<str>) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => *error,
        Err(error) => {
            // Correctness: found in the chain, it is the connector's, which knows better than its wrapper.
            let ours = causes(&*error).find_map(|cause| cause.downcast_ref::<Error>());
            let (kind, limit) = match ours {
                Some(ours) => (ours.kind(), ours.limit()),
                None => (head_kind(&*error), None),
            };
            Error::new(kind, upstream.clone())
                .with_limit(limit)
                .with_source(error)
        }
    }
}

/// An error in the response's body.
pub(super) fn body(error: BoxError, upstream: &Arc<str>) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => *error,
        Err(error) => Error::new(Kind::Cut, upstream.clone()).with_source(error),
    }
}

/// An error while connecting over TCP.
pub(super) fn connect(error: BoxError, is_dns: bool, upstream: Arc<str>) -> Error {
    let kind = match io(&*error) {
        _ if is_dns => Kind::Dns,
        Some(error) if error.kind() == io::ErrorKind::ConnectionRefused => Kind::Refused,
        _ => Kind::Connect,
    };
    Error::new(kind, upstream).with_source(error)
}

fn head_kind(error: &(dyn StdError + 'static)) -> Kind {
    let io = io(error).map(io::Error::kind);
    if io == Some(io::ErrorKind::ConnectionRefused) {
        return Kind::Refused;
    }
    for cause in causes(error) {
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            return hyper_kind(hyper);
        }
    }
    io.map_or(Kind::Protocol, |_| Kind::Closed)
}

fn hyper_kind(error: &hyper::Error) -> Kind {
    if error.is_parse() {
        Kind::Protocol
    } else if error.is_user() {
        Kind::RequestBody
    } else {
        Kind::Closed
    }
}

fn io<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a io::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

pub(super) fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    iter::successors(Some(error), |&error| error.source())
}
