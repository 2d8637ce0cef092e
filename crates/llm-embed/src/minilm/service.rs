//! The model as a tower service, batched.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::oneshot;
use tower::BoxError;
use tower_batch_llm::future::ResponseFuture;
use tower_batch_llm::{BatchLayer, BatchResult, Batcher, Window, batch_fn, cost};
use tower_layer::Layer;
use tower_semcache::Vector;

use super::model::MiniLm;
use crate::embedder::{Embedder, EmbedderId};
use crate::error::Died;

/// Bytes of text that a batch holds: some four thousand tokens, a second of one core at most.
const MAX_BYTES: u64 = 16 << 10;

/// How long texts wait for company while a batch is being computed: longer than a batch of short
/// ones takes.
const WAIT: Duration = Duration::from_millis(100);

/// How texts are batched by default, with a limit of one's own: a lone text goes at once, and what
/// comes while a batch is being computed goes together when it is done.
#[must_use]
pub fn batches(max_items: usize) -> BatchLayer<Arc<str>, Vector> {
    BatchLayer::new(max_items)
        .window(Window::WhileBusy(WAIT))
        .max_in_flight(1)
        .max_cost(MAX_BYTES, cost::sum(|text: &Arc<str>| text.len() as u64))
}

/// A [`MiniLm`] behind a queue: texts in, vectors of norm one out.
///
/// See the [module docs](super). Clones share the queue and the model.
#[derive(Clone)]
pub struct Service {
    id: EmbedderId,
    batcher: Batcher<Arc<str>, Vector>,
}

// === impl Service ===

impl Service {
    pub(super) fn new(model: MiniLm, batches: BatchLayer<Arc<str>, Vector>) -> Self {
        let id = model.id();
        let compute = batch_fn(move |texts| compute(model.clone(), texts));
        Self {
            id,
            batcher: batches.layer(compute),
        }
    }
}

/// Has a batch computed by the model's own threads: an async worker is never kept.
async fn compute(model: MiniLm, texts: Vec<Arc<str>>) -> BatchResult<Vector> {
    let (answer, vectors) = oneshot::channel();
    let threads = model.clone();
    threads.threads().spawn(move || {
        // Whoever waited for it may have left while another batch was being computed.
        if !answer.is_closed() {
            let _ = answer.send(model.compute(&texts));
        }
    });
    vectors.await.map_err(|_| BoxError::from(Died::new()))
}

impl tower_service::Service<Arc<str>> for Service {
    type Response = Vector;
    type Error = BoxError;
    type Future = ResponseFuture<Vector>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.batcher.poll_ready(cx)
    }

    fn call(&mut self, text: Arc<str>) -> Self::Future {
        self.batcher.call(text)
    }
}

impl Embedder for Service {
    fn id(&self) -> EmbedderId {
        self.id
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
