//! What the tests of this crate share.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::indexing_slicing,
    reason = "each test uses a part, and a test may panic"
)]

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tower::Service;
use tower_semcache::{Cache, Control, Lookup, Matching, Scope, Secret, Vector};

pub const SECRET: Secret = Secret::from_bytes([42; 32]);

pub fn scope(tenant: &str) -> Scope {
    SECRET.scope(&[("tenant", tenant.as_bytes())])
}

pub fn lookup(tenant: &str, text: &str) -> Lookup {
    Lookup::new(
        &SECRET,
        scope(tenant),
        Bytes::copy_from_slice(text.as_bytes()),
    )
    .text(text)
}

pub fn similar(tenant: &str, text: &str, threshold: f32) -> Lookup {
    lookup(tenant, text).matching(Matching::threshold(threshold).expect("a valid threshold"))
}

pub fn control(change: impl FnOnce(&mut Control)) -> Control {
    let mut control = Control::default();
    change(&mut control);
    control
}

pub fn cache() -> Cache<String> {
    Cache::builder().build().expect("defaults are valid")
}

/// The request of plain tests: a look-up, or none, which bypasses.
#[derive(Clone, Debug)]
pub struct Ask(pub Option<Lookup>, pub &'static str);

impl Ask {
    pub fn exact(text: &'static str) -> Self {
        Self(Some(lookup("t", text)), text)
    }

    pub fn similar(text: &'static str, threshold: f32) -> Self {
        Self(Some(similar("t", text, threshold)), text)
    }

    pub fn bypass(text: &'static str) -> Self {
        Self(None, text)
    }

    pub fn control(self, change: impl FnOnce(&mut Control)) -> Self {
        let lookup = self.0.map(|lookup| lookup.control(control(change)));
        Self(lookup, self.1)
    }
}

pub fn policy(ask: &Ask) -> Option<Lookup> {
    ask.0.clone()
}

/// Numbers its answers, so that a test sees which call made one.
#[derive(Clone, Debug, Default)]
pub struct Backend {
    pub calls: Arc<AtomicUsize>,
    pub delay: Duration,
}

impl Backend {
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl Service<Ask> for Backend {
    type Response = String;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<String, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, Ask(_, text): Ask) -> Self::Future {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let delay = self.delay;
        Box::pin(async move {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            Ok(format!("{text} #{call}"))
        })
    }
}

/// Embeds by a table: texts that start alike are close.
#[derive(Clone, Debug, Default)]
pub struct Prefix {
    pub calls: Arc<AtomicUsize>,
}

impl Service<Arc<str>> for Prefix {
    type Response = Vector;
    type Error = Infallible;
    type Future = Ready<Result<Vector, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, text: Arc<str>) -> Self::Future {
        self.calls.fetch_add(1, Ordering::SeqCst);
        ready(Ok(Vector::from(prefix(&text))))
    }
}

/// One axis for the first letter, and a little of another for the rest.
pub fn prefix(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; 32];
    let mut bytes = text.bytes();
    vector[usize::from(bytes.next().unwrap_or(0) % 26)] = 1.0;
    vector[26 + bytes.map(usize::from).sum::<usize>() % 6] = 0.2;
    vector
}
