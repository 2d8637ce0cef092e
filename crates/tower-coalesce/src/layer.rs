use std::fmt;
use std::time::Duration;

use tower_layer::Layer;

use crate::seat::Config;
use crate::{Cloned, Coalesce, OnAbandon, Stats};

const MAX_FLIGHTS: usize = 16_384;
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// Lets identical requests in flight share one call. See the [module docs](crate).
///
/// Each service that the layer makes has a map of flights of its own, which the service's clones share.
#[derive(Clone)]
pub struct CoalesceLayer<P, H = Cloned> {
    policy: P,
    share: H,
    config: Config,
    stats: Stats,
}

// === impl CoalesceLayer ===

impl<P> CoalesceLayer<P> {
    /// Requests to which `policy` gives equal keys share one call, and each gets a clone of the response.
    #[must_use]
    pub fn new(policy: P) -> Self {
        let config = Config {
            on_abandon: OnAbandon::Cancel,
            max_flights: MAX_FLIGHTS,
            max_age: MAX_AGE,
        };
        Self {
            policy,
            share: Cloned,
            config,
            stats: Stats::default(),
        }
    }
}

impl<P, H> CoalesceLayer<P, H> {
    /// How one response becomes many. Default: [`Cloned`].
    #[must_use]
    pub fn share_with<G>(self, share: G) -> CoalesceLayer<P, G> {
        let Self {
            policy,
            share: _,
            config,
            stats,
        } = self;
        CoalesceLayer {
            policy,
            share,
            config,
            stats,
        }
    }

    /// What happens when the last caller of a flight leaves. Default: [`OnAbandon::Cancel`].
    #[must_use]
    pub fn on_abandon(mut self, then: OnAbandon) -> Self {
        self.config.on_abandon = then;
        self
    }

    /// How many flights a service may have at a time; a request that would start one more fails with
    /// [`Overloaded`](crate::error::Overloaded). Default: 16,384.
    #[must_use]
    pub fn max_flights(mut self, flights: usize) -> Self {
        self.config.max_flights = flights;
        self
    }

    /// How long a flight may take from the call to the end of the body, for all its callers; beyond it they get a
    /// [`TooOld`](crate::error::TooOld). Default: 1 hour.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.config.max_age = age;
        self
    }

    /// The counters of all services that this layer and its clones make.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats.clone()
    }
}

impl<S, P, H> Layer<S> for CoalesceLayer<P, H>
where
    P: Clone,
    H: Clone,
{
    type Service = Coalesce<S, P, H>;

    fn layer(&self, inner: S) -> Self::Service {
        let Self {
            policy,
            share,
            config,
            stats,
        } = self.clone();
        Coalesce::new(inner, policy, share, config, stats)
    }
}

impl<P, H: fmt::Debug> fmt::Debug for CoalesceLayer<P, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoalesceLayer")
            .field("share", &self.share)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
