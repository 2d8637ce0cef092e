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
        Self {
            inner,
            policy,
            share,
            config,
            stats,
            registry: Arc::default(),
        }
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

#[cfg(all(test, not(tower_coalesce_loom)))]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use tower::{ServiceExt, service_fn};
    use tower_layer::Layer;

    use super::*;
    use crate::{CoalesceLayer, OnAbandon};

    #[tokio::test(start_paused = true)]
    async fn the_map_is_empty_after_flights_of_every_fate() {
        for then in [OnAbandon::Cancel, OnAbandon::Finish] {
            let layer = CoalesceLayer::new(|n: &u64| Some(*n))
                .on_abandon(then)
                .max_age(Duration::from_millis(15));
            let service = layer.layer(service_fn(|n: u64| async move {
                tokio::time::sleep(Duration::from_millis(n)).await;
                assert_ne!(n % 5, 4, "one in five panics");
                if n % 5 == 3 {
                    Err("one in five fails")
                } else {
                    Ok(n)
                }
            }));
            let mut tasks = Vec::new();
            for n in 0..2_000_u64 {
                let call = service.clone().oneshot(n % 20);
                let patience = Duration::from_millis(n * 7 % 20);
                tasks.push(tokio::spawn(tokio::time::timeout(patience, call)));
                if n % 7 == 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            for task in tasks {
                let _ = task.await.unwrap();
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            let home = service.registry.get(|| -> Home<u64, Cloned, u64> {
                panic!("it was made by the first call");
            });
            assert_eq!(home.flights.len(), (0, 0));
            let stats = layer.stats().snapshot();
            assert_eq!(stats.flights_open, 0);
            assert_eq!(stats.leaders + stats.followers, 2_000);
            assert!(stats.panicked > 0 && stats.too_old > 0 && stats.followers > 0);
            assert_eq!(stats.abandoned > 0, then == OnAbandon::Cancel);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn accessors_reach_the_inner_service() {
        let layer = CoalesceLayer::new(|n: &u64| Some(*n));
        let mut service = layer.layer(service_fn(|n: u64| async move { Ok::<_, Infallible>(n) }));
        let _ = service.get_ref();
        let _ = service.get_mut();
        assert_eq!(service.stats().snapshot(), layer.stats().snapshot());
        assert!(format!("{layer:?} {service:?}").contains("Cloned"));
        assert_eq!(service.into_inner().oneshot(1).await, Ok(1));
    }
}
