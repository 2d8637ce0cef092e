//! The layer: settings, and a worker for each service it makes.

use std::{fmt, hash::Hash, sync::Arc, time::Duration};

use tokio::sync::{Semaphore, mpsc};
use tower::BoxError;
use tower_layer::Layer;
use tower_service::Service;

use crate::{
    Batch, Batcher, Oversized, SoFar, Stats, Window,
    backlog::{Backlog, Grouping},
    cost::MaxCost,
    queue::Rules,
    worker::{Inbox, Worker},
};

/// Batches that may run at once, unless [`BatchLayer::max_in_flight`] says otherwise.
pub const DEFAULT_MAX_IN_FLIGHT: usize = 128;
/// Items that may wait, unless [`BatchLayer::queue_capacity`] says otherwise.
pub const DEFAULT_QUEUE_CAPACITY: usize = 1_024;
/// How items wait, unless [`BatchLayer::window`] says otherwise.
pub const DEFAULT_WINDOW: Window = Window::WhileBusy(Duration::from_millis(6));

/// Turns a service of batches into a service of single requests.
///
/// See the [module docs](crate) for what it does with back-pressure, cancellation, errors and
/// panics.
///
/// Every call of [`layer`](Layer::layer) starts a worker task with a queue of its own; clones of
/// the resulting [`Batcher`] share both.
pub struct BatchLayer<Req, Res, K = ()> {
    max_items: usize,
    max_in_flight: usize,
    queue_capacity: usize,
    window: Window,
    max_cost: Option<MaxCost<Req>>,
    oversized: Oversized,
    grouping: Grouping<Req, K>,
    stats: Stats,
    _response: std::marker::PhantomData<fn() -> Res>,
}

// === impl BatchLayer ===

impl<Req, Res> BatchLayer<Req, Res> {
    /// Batches of at most `max_items` items; 0 is taken as 1.
    #[must_use]
    pub fn new(max_items: usize) -> Self {
        let max_items = max_items.max(1);
        Self {
            max_items,
            max_in_flight: DEFAULT_MAX_IN_FLIGHT,
            queue_capacity: DEFAULT_QUEUE_CAPACITY,
            window: DEFAULT_WINDOW,
            max_cost: None,
            oversized: Oversized::Alone,
            grouping: Grouping::One(()),
            stats: Stats::new(max_items),
            _response: std::marker::PhantomData,
        }
    }
}

impl<Req, Res, K> BatchLayer<Req, Res, K> {
    /// How long a batch waits for company. The default is [`DEFAULT_WINDOW`].
    #[must_use]
    pub fn window(mut self, window: Window) -> Self {
        self.window = window;
        self
    }

    /// The most a batch may cost, and its cost once one more item has joined it.
    ///
    /// `cost` is given the batch so far and the item that would join, and returns the cost of the
    /// *whole* batch with it, in any unit. It should not fall when an item joins. A batch whose
    /// cost reaches `limit` is full; one that the next item would push beyond goes without it.
    /// [`cost::sum`](crate::cost::sum) and [`cost::padded`](crate::cost::padded) make the usual
    /// functions. By default only the number of items counts.
    ///
    /// It runs in the worker, possibly more than once an item: keep it cheap.
    #[must_use]
    pub fn max_cost(
        mut self,
        limit: u64,
        cost: impl Fn(SoFar<'_, Req>, &Req) -> u64 + Send + Sync + 'static,
    ) -> Self {
        let cost = Arc::new(cost);
        self.max_cost = Some(MaxCost { limit, cost });
        self
    }

    /// What to do with an item that alone costs more than `max_cost`. By default it goes alone.
    #[must_use]
    pub fn oversized(mut self, oversized: Oversized) -> Self {
        self.oversized = oversized;
        self
    }

    /// How many batches may run at once; 0 is taken as 1. The default is
    /// [`DEFAULT_MAX_IN_FLIGHT`], which leaves the limit to the inner service's readiness.
    #[must_use]
    pub fn max_in_flight(mut self, batches: usize) -> Self {
        self.max_in_flight = batches.max(1);
        self
    }

    /// How many items may wait for their batch to go; beyond it the service is not ready. 0 is
    /// taken as 1. The default is [`DEFAULT_QUEUE_CAPACITY`].
    ///
    /// With less than `max_items`, no batch is larger than the queue.
    #[must_use]
    pub fn queue_capacity(mut self, items: usize) -> Self {
        self.queue_capacity = items.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Only items of equal keys share a batch.
    ///
    /// Each key with waiting items has a batch of its own, with its own window and limits;
    /// `max_in_flight` and `queue_capacity` hold for all keys together, and of several batches
    /// that are due, the one with the oldest item goes first. Keys without waiting items are
    /// forgotten, so that there are never more of them than queue slots. Under
    /// [`Window::WhileBusy`] a running batch of any key makes all wait.
    ///
    /// `key` runs in the worker, once an item.
    #[must_use]
    pub fn group_by<G>(
        self,
        key: impl Fn(&Req) -> G + Send + Sync + 'static,
    ) -> BatchLayer<Req, Res, G>
    where
        G: Hash + Eq + Clone + Send + 'static,
    {
        BatchLayer {
            max_items: self.max_items,
            max_in_flight: self.max_in_flight,
            queue_capacity: self.queue_capacity,
            window: self.window,
            max_cost: self.max_cost,
            oversized: self.oversized,
            grouping: Grouping::By(Arc::new(key)),
            stats: self.stats,
            _response: self._response,
        }
    }

    /// The counters of all services this layer makes, clones of the layer included.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats.clone()
    }
}

impl<S, Req, Res, K> Layer<S> for BatchLayer<Req, Res, K>
where
    S: Service<Batch<Req, Res>, Response = ()> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    Req: Send + 'static,
    Res: Send + 'static,
    K: Hash + Eq + Clone + Send + 'static,
{
    type Service = Batcher<Req, Res>;

    /// Starts the worker.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    fn layer(&self, inner: S) -> Self::Service {
        let slots = Arc::new(Semaphore::new(self.queue_capacity));
        let (arrivals, arrived) = mpsc::unbounded_channel();
        let (leave, leavers) = mpsc::unbounded_channel();
        let counters = self.stats.counters();
        let rules = Rules {
            max_items: self.max_items,
            max_cost: self.max_cost.clone(),
            oversized: self.oversized,
            window: self.window,
            counters: Arc::clone(&counters),
        };
        let inbox = Inbox {
            arrivals: arrived,
            leavers,
            slots: Arc::clone(&slots),
        };
        let backlog = Backlog::new(self.grouping.clone(), rules, self.queue_capacity);
        let worker = Worker::new(
            inner,
            inbox,
            backlog,
            self.window,
            self.max_in_flight,
            counters,
        );
        // The task is owned by the handles: it ends after the last of them.
        drop(tokio::spawn(worker.run()));
        Batcher::new(arrivals, leave, slots)
    }
}

impl<Req, Res, K: Clone> Clone for BatchLayer<Req, Res, K> {
    fn clone(&self) -> Self {
        Self {
            max_items: self.max_items,
            max_in_flight: self.max_in_flight,
            queue_capacity: self.queue_capacity,
            window: self.window,
            max_cost: self.max_cost.clone(),
            oversized: self.oversized,
            grouping: self.grouping.clone(),
            stats: self.stats.clone(),
            _response: self._response,
        }
    }
}

impl<Req, Res, K> fmt::Debug for BatchLayer<Req, Res, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchLayer")
            .field("max_items", &self.max_items)
            .field("max_in_flight", &self.max_in_flight)
            .field("queue_capacity", &self.queue_capacity)
            .field("window", &self.window)
            .field("max_cost", &self.max_cost)
            .field("oversized", &self.oversized)
            .field("grouping", &self.grouping)
            .finish_non_exhaustive()
    }
}
