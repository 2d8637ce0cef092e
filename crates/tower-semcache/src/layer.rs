use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tower_layer::Layer;

use crate::cache::Cache;
use crate::guard::AcceptAll;
use crate::semantic::{Bounded, Decider, Mode, NoEmbedder, Semantic};
use crate::service::CacheService;

/// Puts a [`CacheService`] around a service. See the [crate docs](crate).
pub struct CacheLayer<P, H, V, E = NoEmbedder, G = AcceptAll> {
    cache: Cache<V>,
    policy: P,
    record: H,
    semantic: Option<Semantic<V, E, G>>,
    deadline: Duration,
}

const DEADLINE: Duration = Duration::from_millis(100);

// === impl CacheLayer ===

impl<P, H, V> CacheLayer<P, H, V> {
    /// A layer that answers from `cache` what `policy` finds there, and lets `record` store the
    /// rest.
    pub const fn new(cache: Cache<V>, policy: P, record: H) -> Self {
        Self {
            cache,
            policy,
            record,
            semantic: None,
            deadline: DEADLINE,
        }
    }
}

impl<P, H, V, E, G> CacheLayer<P, H, V, E, G> {
    /// Adds the semantic tier, for requests whose [`Matching`](crate::Matching) asks for it.
    ///
    /// `embedder` is a tower service from a text to its [`Vector`](crate::Vector): time limits,
    /// concurrency limits and batching stack on it as on any other. It is called at most once a
    /// request, on a clone.
    #[must_use]
    pub fn semantic<E2, G2>(self, embedder: E2, guard: G2) -> CacheLayer<P, H, V, E2, G2> {
        let Self {
            cache,
            policy,
            record,
            semantic: _,
            deadline,
        } = self;
        let semantic = Some(Semantic {
            embedder,
            deadline,
            decider: Decider {
                guard: Arc::new(guard),
                mode: Mode::Serve,
                bounded: None,
            },
        });
        CacheLayer {
            cache,
            policy,
            record,
            semantic,
            deadline,
        }
    }

    /// Who decides about requests whose matching is [`Bounded`](crate::Matching::Bounded). After
    /// [`semantic`](Self::semantic); without a semantic tier there is nothing to decide.
    #[must_use]
    pub fn bounded(mut self, bounded: Bounded<V>) -> Self {
        if let Some(semantic) = &mut self.semantic {
            semantic.decider.bounded = Some(bounded);
        }
        self
    }

    /// Whether what a [threshold](crate::Matching::Threshold) allows is served. After
    /// [`semantic`](Self::semantic). Default: [`Mode::Serve`]. A [`Bounded`] has a mode of its own.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        if let Some(semantic) = &mut self.semantic {
            semantic.decider.mode = mode;
        }
        self
    }

    /// How long a request waits for its embedding, readiness of the embedder included, before it
    /// goes on as a miss. Default: 100 ms.
    #[must_use]
    pub fn embed_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        if let Some(semantic) = &mut self.semantic {
            semantic.deadline = deadline;
        }
        self
    }
}

impl<S, P, H, V, E, G> Layer<S> for CacheLayer<P, H, V, E, G>
where
    P: Clone,
    H: Clone,
    E: Clone,
{
    type Service = CacheService<S, P, H, V, E, G>;

    fn layer(&self, inner: S) -> Self::Service {
        let Self {
            cache,
            policy,
            record,
            semantic,
            deadline: _,
        } = self.clone();
        CacheService::from_parts(inner, cache, policy, record, semantic)
    }
}

impl<P, H, V, E, G> Clone for CacheLayer<P, H, V, E, G>
where
    P: Clone,
    H: Clone,
    E: Clone,
{
    fn clone(&self) -> Self {
        Self {
            cache: self.cache.clone(),
            policy: self.policy.clone(),
            record: self.record.clone(),
            semantic: self.semantic.clone(),
            deadline: self.deadline,
        }
    }
}

impl<P, H, V, E, G> fmt::Debug for CacheLayer<P, H, V, E, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheLayer")
            .field("cache", &self.cache)
            .field("semantic", &self.semantic)
            .finish_non_exhaustive()
    }
}
