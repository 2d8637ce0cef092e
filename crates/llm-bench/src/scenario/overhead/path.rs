//! The ways of a request.

use super::super::chat::{self, Form, Temperature};
use crate::BoxError;
use crate::measure::Source;
use crate::process::{Front, Nginx, cpu_time};
use crate::upstream::Upstream;
use std::net::SocketAddr;
use std::time::Duration;

/// A way of a request through a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Path {
    /// The front end; sampled, so neither looked up nor kept nor shared.
    Bypass,
    /// The front end; a prompt that nobody asked before: looked up, led, recorded, stored.
    Miss,
    /// The front end; a prompt whose answer is in the cache.
    Hit,
    /// nginx, passed on.
    Proxy,
    /// nginx, from its cache.
    CachedHit,
}

impl Path {
    /// Nginx's beside ours, so that both sides of a ratio are measured within seconds.
    pub(super) const ALL: [Self; 5] = [
        Self::Proxy,
        Self::Bypass,
        Self::Miss,
        Self::Hit,
        Self::CachedHit,
    ];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Bypass => "front end, bypassed",
            Self::Miss => "front end, recorded miss",
            Self::Hit => "front end, exact hit",
            Self::Proxy => "nginx, proxy_pass",
            Self::CachedHit => "nginx, cached hit",
        }
    }

    /// What the answer says of itself; nginx says nothing.
    pub(super) const fn source(self) -> Source {
        match self {
            Self::Bypass => Source::Bypass,
            Self::Miss => Source::Generation,
            Self::Hit => Source::Hit,
            Self::Proxy | Self::CachedHit => Source::Unsaid,
        }
    }

    /// Whether each request reaches the upstream.
    pub(super) const fn calls_upstream(self) -> bool {
        matches!(self, Self::Bypass | Self::Miss | Self::Proxy)
    }

    /// The request `number`, of the same length on all paths.
    pub(super) fn request(self, number: usize, form: Form) -> Vec<u8> {
        let (case, temperature) = match self {
            Self::Bypass | Self::Proxy => (number, Temperature::One),
            Self::Miss => (number, Temperature::Zero),
            Self::Hit | Self::CachedHit => (0, Temperature::Zero),
        };
        let prompt = format!(
            "You are on call. Summarize the checkout incident for the engineer who takes over, with times, owners and what was tried. Case {case:012}."
        );
        chat::request(&prompt, form, temperature)
    }
}

/// Who is measured.
#[derive(Debug)]
pub(super) struct Servers<'a> {
    pub(super) front: &'a Front,
    pub(super) nginx: Option<&'a Nginx>,
    pub(super) upstream: &'a Upstream,
}

impl Servers<'_> {
    /// Where a path begins; none without nginx.
    pub(super) fn address(&self, path: Path) -> Option<SocketAddr> {
        match path {
            Path::Bypass | Path::Miss | Path::Hit => Some(self.front.address),
            Path::Proxy => self.nginx.map(|nginx| nginx.proxy),
            Path::CachedHit => self.nginx.map(|nginx| nginx.cache),
        }
    }

    /// CPU time so far of the process a path goes through.
    pub(super) fn cpu_time(&self, path: Path) -> Result<Duration, BoxError> {
        match (path, self.nginx) {
            (Path::Proxy | Path::CachedHit, Some(nginx)) => nginx.cpu_time(),
            _ => cpu_time(self.front.child.id()),
        }
    }
}
