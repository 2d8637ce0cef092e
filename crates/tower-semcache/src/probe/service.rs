use std::task::{Context, Poll};

use tower::BoxError;
use tower::util::Oneshot;
use tower_service::Service;

use super::future::ResponseFuture;
use crate::cache::Cache;
use crate::policy::Policy;
use crate::record::Record;

/// Answers exact hits, passes on everything else. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Probe<S, P, H, V> {
    inner: S,
    cache: Cache<V>,
    policy: P,
    record: H,
}

// === impl Probe ===

impl<S, P, H, V> Probe<S, P, H, V> {
    /// A probe of `cache` in front of `inner`.
    pub const fn new(inner: S, cache: Cache<V>, policy: P, record: H) -> Self {
        Self {
            inner,
            cache,
            policy,
            record,
        }
    }

    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The inner service, mutably.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The inner service, without the probe.
    pub fn into_inner(self) -> S {
        self.inner
    }

    fn hit<Req, Res>(&self, request: &Req) -> Option<H::Response>
    where
        P: Policy<Req>,
        H: Record<Req, Res, Value = V>,
    {
        let lookup = self.policy.lookup(request)?;
        let hit = self.cache.get(&lookup)?;
        let response = self.record.replay(&hit, request)?;
        self.cache.counters().hit(hit.detail());
        Some(response)
    }
}

impl<Req, S, P, H, V> Service<Req> for Probe<S, P, H, V>
where
    S: Service<Req> + Clone,
    S::Error: Into<BoxError>,
    P: Policy<Req>,
    H: Record<Req, S::Response, Value = V> + Clone,
{
    type Response = H::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S, Req, H>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Req) -> Self::Future {
        match self.hit(&request) {
            Some(response) => ResponseFuture::hit(response),
            // Only a clone that has not been polled is driven to readiness and called: the
            // readiness of `self.inner` is never used.
            None => ResponseFuture::miss(
                Oneshot::new(self.inner.clone(), request),
                self.record.clone(),
            ),
        }
    }
}
