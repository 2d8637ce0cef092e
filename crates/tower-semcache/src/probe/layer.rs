use tower_layer::Layer;

use super::service::Probe;
use crate::cache::Cache;

/// Puts a [`Probe`] in front of a service. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct ProbeLayer<P, H, V> {
    cache: Cache<V>,
    policy: P,
    record: H,
}

// === impl ProbeLayer ===

impl<P, H, V> ProbeLayer<P, H, V> {
    /// A probe of `cache` for what `policy` finds, replayed by `record`.
    pub const fn new(cache: Cache<V>, policy: P, record: H) -> Self {
        Self {
            cache,
            policy,
            record,
        }
    }
}

impl<S, P, H, V> Layer<S> for ProbeLayer<P, H, V>
where
    P: Clone,
    H: Clone,
{
    type Service = Probe<S, P, H, V>;

    fn layer(&self, inner: S) -> Self::Service {
        Probe::new(
            inner,
            self.cache.clone(),
            self.policy.clone(),
            self.record.clone(),
        )
    }
}
