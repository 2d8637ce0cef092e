use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower::BoxError;
use tower::util::Oneshot;
use tower_service::Service;

use crate::cache::Cache;
use crate::future::ResponseFuture;
use crate::guard::{AcceptAll, Guard};
use crate::lookup::Lookup;
use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::record::Record;
use crate::semantic::{Miss, NoEmbedder, Semantic};
use crate::vector::Vector;

/// Answers from a cache, or from the inner service and remembers. See the [crate docs](crate).
///
/// Always ready: the inner service is driven inside the future, on a clone.
pub struct CacheService<S, P, H, V, E = NoEmbedder, G = AcceptAll> {
    inner: S,
    cache: Cache<V>,
    policy: P,
    record: H,
    semantic: Option<Semantic<V, E, G>>,
}

// === impl CacheService ===

impl<S, P, H, V, E, G> CacheService<S, P, H, V, E, G> {
    pub(crate) const fn from_parts(
        inner: S,
        cache: Cache<V>,
        policy: P,
        record: H,
        semantic: Option<Semantic<V, E, G>>,
    ) -> Self {
        Self {
            inner,
            cache,
            policy,
            record,
            semantic,
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

    /// The inner service, without the cache.
    pub fn into_inner(self) -> S {
        self.inner
    }

    fn exact<Req, Res>(&self, request: &Req, lookup: &Lookup) -> Option<H::Response>
    where
        H: Record<Req, Res, Value = V>,
    {
        let hit = self.cache.get(lookup)?;
        let response = self.record.replay(&hit, request)?;
        self.cache.counters().hit(hit.detail());
        Some(response)
    }
}

impl<Req, S, P, H, V, E, G> Service<Req> for CacheService<S, P, H, V, E, G>
where
    S: Service<Req> + Clone,
    S::Error: Into<BoxError>,
    P: Policy<Req>,
    H: Record<Req, S::Response, Value = V> + Clone,
    E: Service<Arc<str>, Response = Vector> + Clone,
    G: Guard,
{
    type Response = H::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S, Req, H, V, E, G>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let record = self.record.clone();
        let Some(mut lookup) = self.policy.lookup(&request) else {
            self.cache.counters().bypassed.add(1);
            let call = Oneshot::new(self.inner.clone(), request);
            return ResponseFuture::pass(call, record, Outcome::Bypass);
        };
        lookup.control.store &= record.records(&request);
        // Before the look-up: whatever is purged from here on must not come back with this answer.
        let generation = self.cache.generation(&lookup);
        if let Some(response) = self.exact(&request, &lookup) {
            return ResponseFuture::done(Ok(response), record);
        }
        let miss = Miss {
            request,
            inner: self.inner.clone(),
            cache: self.cache.clone(),
            lookup,
            generation,
        };
        let matching = miss.lookup.matching;
        let semantic = self.semantic.as_ref().filter(|tier| tier.knows(matching));
        match semantic.and_then(|semantic| Some((semantic, miss.wants_embedding()?))) {
            Some((semantic, text)) => ResponseFuture::embed(semantic.clone(), text, miss, record),
            None => ResponseFuture::miss(miss, record),
        }
    }
}

impl<S, P, H, V, E, G> Clone for CacheService<S, P, H, V, E, G>
where
    S: Clone,
    P: Clone,
    H: Clone,
    E: Clone,
{
    fn clone(&self) -> Self {
        Self {
            // Neither was ever polled ready: only clones inside futures are.
            inner: self.inner.clone(),
            semantic: self.semantic.clone(),
            cache: self.cache.clone(),
            policy: self.policy.clone(),
            record: self.record.clone(),
        }
    }
}

impl<S, P, H, V, E, G> fmt::Debug for CacheService<S, P, H, V, E, G>
where
    S: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheService")
            .field("inner", &self.inner)
            .field("cache", &self.cache)
            .field("semantic", &self.semantic)
            .finish_non_exhaustive()
    }
}
