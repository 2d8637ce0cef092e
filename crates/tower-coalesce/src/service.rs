use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower::BoxError;
use tower_service::Service;

use crate::future::ResponseFuture;
use crate::registry::Registry;
use crate::seat::{Config, Home};
use crate::sync::Flights;
use crate::{Cloned, Policy, Share, Stats};

/// Lets identical requests in flight share one call. See the [module docs](crate).
///
/// Clones share the map of flights.
#[derive(Clone)]
pub struct Coalesce<S, P, H = Cloned> {
    inner: S,
    policy: P,
    share: H,
    config: Config,
    stats: Stats,
    registry: Arc<Registry>,
}

// === impl Coalesce ===

impl<S, P, H> Coalesce<S, P, H> {
    pub(crate) fn new(inner: S, policy: P, share: H, config: Config, stats: Stats) -> Self {
        Self { inner, policy, share, config, stats, registry: Arc::default() }
    }

    /// The inner service.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The inner service. Calls already in flight have clones of it as it was.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The inner service.
    pub fn into_inner(self) -> S {
        self.inner
    }

    /// The counters of the layer that made this service.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats.clone()
    }
}

impl<S, P, H, Req> Service<Req> for Coalesce<S, P, H>
where
    S: Service<Req> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    Req: Send + 'static,
    P: Policy<Req>,
    H: Share<S::Response> + Clone + Send + Sync + 'static,
{
    type Response = H::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S, Req, P::Key, H>;

    /// Always ready: who joins a flight must neither wait for the inner service nor hold a place in it.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Req) -> Self::Future {
        // The clone was never polled ready: it is driven by a `Oneshot`, which does that first.
        let inner = self.inner.clone();
        let Some(key) = self.policy.key(&request) else {
            self.stats.counters().bypassed.up();
            return ResponseFuture::bypass(inner, request, self.share.clone());
        };
        let home = self.registry.get(|| Home {
            flights: Flights::new(),
            share: self.share.clone(),
            config: self.config,
            stats: self.stats.clone(),
            deserted: H::deserted,
        });
        ResponseFuture::shared(home, key, inner, request)
    }
}

impl<S: fmt::Debug, P, H: fmt::Debug> fmt::Debug for Coalesce<S, P, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coalesce")
            .field("inner", &self.inner)
            .field("share", &self.share)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
