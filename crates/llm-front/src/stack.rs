//! The whole gateway on one page: which layers a request passes, in which order, and why.
//!
//! ```text
//! Admin ─ Observe ─ Cap ─ Tenant ─ Fork ┬ Prompt ─ Label ┬ Probe ─ Form ─ Coalesce ─ Cache ┬ Admission ┬ Batch ─ Merge ┬ Backend
//!                                       │                └ Form (shares with nobody) ──────┘           └───────────────┤
//!                                       ├ Label (passed on unread) ─────────────────────────── Admission ──────────────┘
//!                                       └ Feedback (where rephrased requests are matched)
//! ```
//!
//! * `Coalesce` stands outside `Cache`. The other way round, a request that missed the cache a moment ago would lead a second
//!   flight between "flight over" and "answer stored", and generate twice. So the leader looks once more in the cache, and the
//!   answer is stored before the flight's key is free.
//! * `Probe` stands in front of both, so that an exact hit costs neither a task nor the flight map.
//! * `Admission` stands below the cache, so that hits and followers never wait for the backend's capacity; what is only passed on takes
//!   its places from the same bound.
//! * A `Mark` stands where a stage of a request's time begins: see [`Stage`]. Stages follow one another, so they add up.
//! * `Finish` stands around `Cache`: of its calls, those that are audits go on when their callers have left.
//! * `Form` stands above `Coalesce`, so that callers who want a stream and callers who want a body share a flight where the backend
//!   is always asked for a stream.

use crate::admin::Admin;
use crate::asked::Carry;
use crate::backend::Backend;
use crate::collect::Bounds;
use crate::config::Config;
use crate::config::types::BatchWindow;
use crate::feedback::{self, Feedback};
use crate::front::Front;
use crate::journey::Stage;
use crate::judges::{self, AskAgain};
use crate::keys::Keys;
use crate::layer_metrics::LayerMetrics;
use crate::layers::admission::AdmissionLayer;
use crate::layers::cap::CapLayer;
use crate::layers::fork::Fork;
use crate::layers::form::FormLayer;
use crate::layers::label::LabelLayer;
use crate::layers::mark::MarkLayer;
use crate::layers::merge::{MergeLayer, Mergeable};
use crate::layers::observe::ObserveLayer;
use crate::layers::prompt::PromptLayer;
use crate::layers::shared::Shared;
use crate::layers::split::{Split, Way};
use crate::layers::tenant::TenantLayer;
use crate::metrics::Metrics;
use crate::policies::{To, Whole, flight, lookup, stream_is_done};
use crate::semantic::{self, Kept, SemanticMetrics, Tier};
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use llm_backend::RequestBody;
use std::sync::Arc;
use tower::{BoxError, ServiceBuilder};
use tower_batch_llm::{BatchLayer, Window};
use tower_coalesce::{CoalesceLayer, http::SharedBody};
use tower_semcache::http::{Answer, FinishLayer, HttpRecord};
use tower_semcache::{Cache, CacheLayer, ProbeLayer};

/// The gateway, ready to serve.
#[derive(Debug)]
pub struct Gateway<Q> {
    /// Answers every request; always ready.
    pub service: Front<Q>,
    /// What it counts.
    pub metrics: Arc<Metrics>,
    /// Who answers behind it.
    pub backend: Shared<Backend>,
    /// What outlives the process (`--semantic-state`): to be told of its end.
    pub kept: Kept,
}

/// Builds the gateway. `Q` is the body of the requests it will serve.
///
/// # Errors
/// The backend's URL or credential, a bound of the cache, the secret's file or the kept state cannot be used.
///
/// # Panics
/// Outside of a tokio runtime: the batcher and the judge start their workers.
pub fn build<Q>(config: &Config) -> Result<Gateway<Q>, BoxError>
where
    Q: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let backend = Backend::new(config)?;
    let bounds = Bounds {
        limit: config.body_limit.0,
        silence: config.body_timeout.0,
    };

    // The state that the layers share, and the metrics read.
    let cache: Cache<Answer> = Cache::builder()
        .max_bytes(config.cache_bytes.0)
        .max_entry_bytes(config.cache_entry_bytes.0)
        .ttl(config.cache_ttl.0)
        .build()?;
    let admission = AdmissionLayer::new(config.max_upstream, config.upstream_wait.0);
    let batch = batching(config);
    let coalesce = CoalesceLayer::new(when(config.coalesce.is_on(), flight::<RequestBody>))
        .share_with(
            SharedBody::new()
                .cap(config.log_cap.0 as u64)
                .complete_when(stream_is_done),
        )
        .max_flights(config.max_requests)
        .max_age(config.flight_age.0);
    let layer_metrics = LayerMetrics {
        cache: cache.clone(),
        flights: coalesce.stats(),
        batches: batch.stats(),
        places: admission.places(),
        max_places: config.max_upstream,
    };

    // From the inside out; `Shared` wherever a layer above clones what is below.
    let backend = Shared::new(backend);
    let batched = ServiceBuilder::new()
        .layer_fn(Shared::new)
        .map_response(|response: Response<Bytes>| response.map(Full::new))
        .layer(batch)
        .layer(MergeLayer)
        .service(backend.clone());
    let upstream = ServiceBuilder::new()
        .layer_fn(Shared::new)
        .layer(MarkLayer::new(Stage::Queue))
        .layer(admission.clone())
        .layer(MarkLayer::new(Stage::Backend))
        .service(Split::new(batched_or_direct, batched, backend.clone()));

    let secret = semantic::secret(config)?;
    let semantic = Tier::new(config)?;
    let judge = judges::judge(config, semantic.embedder.clone(), upstream.clone())?;
    let again = AskAgain::new(
        upstream.clone(),
        &config.generate_model.0,
        config.cache_entry_bytes.0,
    );
    let (bounded, kept) = match &semantic.asks {
        Some(_) => semantic::bounded(config, &secret, &cache, judge, again)?,
        None => (None, Kept::none()),
    };
    let matches = semantic.asks.is_some();
    let audits = bounded.is_some();
    let asks = Arc::new(Keys::new(config, secret, semantic.asks));
    let feedback = Feedback::new(asks.clone(), cache.clone(), bounds);
    let mut metrics = Metrics::new().with(Box::new(layer_metrics));
    if matches {
        metrics = metrics.with(Box::new(SemanticMetrics {
            cache: cache.clone(),
            heard: feedback.heard(),
            bounded: bounded.clone(),
        }));
    }
    let metrics = Arc::new(metrics);

    let keys = when(config.cache.is_on(), lookup::<RequestBody>);
    let record = HttpRecord::new("llm-front").complete(Whole);
    // Whether a request is matched by similarity is said by its look-up: see `Keys`.
    let caching = CacheLayer::new(cache.clone(), keys, record.clone().transcode(To::Flight))
        .semantic(semantic.embedder, semantic.guard)
        .embed_deadline(semantic.deadline)
        .mode(semantic.mode);
    let caching = match bounded {
        Some(bounded) => caching.bounded(bounded),
        None => caching,
    };
    let shared = ServiceBuilder::new()
        .layer_fn(Shared::new)
        .layer(MarkLayer::new(Stage::Cache))
        .layer(ProbeLayer::new(cache, keys, record.transcode(To::Caller)))
        .layer_fn(Shared::new)
        .layer(FormLayer)
        .layer_fn(Shared::new)
        .layer(MarkLayer::new(Stage::Coalesce))
        .layer(coalesce)
        .layer_fn(Shared::new)
        .layer(MarkLayer::new(Stage::Lookup))
        .layer(FinishLayer::new(move |_: &Request<RequestBody>| audits))
        .layer(caching)
        .service(upstream.clone());
    let alone = ServiceBuilder::new()
        .layer_fn(Shared::new)
        .layer(FormLayer)
        .service(upstream);
    let read = ServiceBuilder::new()
        .layer_fn(Shared::new)
        .layer(PromptLayer::new(asks, bounds))
        .layer_fn(Shared::new)
        .layer(LabelLayer)
        .service(Split::new(shared_or_alone, shared, alone));
    let raw = ServiceBuilder::new()
        .layer_fn(Shared::new)
        .layer(LabelLayer)
        .layer(MarkLayer::new(Stage::Queue))
        .layer(admission)
        .layer(MarkLayer::new(Stage::Backend))
        .service(backend.clone());
    let raw = Split::new(
        if matches {
            told_or_passed
        } else {
            |_| Way::Right
        },
        feedback,
        raw,
    );

    let front = ServiceBuilder::new()
        .layer_fn(Shared::new)
        .layer(ObserveLayer::new(metrics.clone()))
        .layer(CapLayer::new(config.max_requests))
        .layer(TenantLayer::new(config.tenants))
        .service(Fork::new(read, raw, config.body_timeout.0));
    let admin = Admin::new(
        front,
        metrics.clone(),
        backend.clone(),
        config.backend_key.0.is_some(),
    );
    Ok(Gateway {
        service: Front::new(move |request| admin.answer(request)),
        metrics,
        backend,
        kept,
    })
}

/// A layer's policy, or the policy that no request comes under.
fn when<T>(
    on: bool,
    policy: fn(&Request<RequestBody>) -> Option<T>,
) -> fn(&Request<RequestBody>) -> Option<T> {
    if on { policy } else { |_| None }
}

/// Whoever shares with nobody passes none of the layers that share.
fn shared_or_alone(request: &Request<RequestBody>) -> Way {
    let shares = request.asked().is_some_and(|asked| asked.key.is_ok());
    if shares { Way::Left } else { Way::Right }
}

/// What is said of an answer is heard here; all else that is not read goes on.
fn told_or_passed(request: &Request<RequestBody>) -> Way {
    let told = request.uri().path() == feedback::PATH;
    if told { Way::Left } else { Way::Right }
}

fn batched_or_direct(request: &Request<RequestBody>) -> Way {
    let merges = request.asked().is_some_and(|asked| asked.merge.is_some());
    if merges { Way::Left } else { Way::Right }
}

type Batching = BatchLayer<Request<RequestBody>, Response<Bytes>, Option<Arc<[u8]>>>;

fn batching(config: &Config) -> Batching {
    let window = config.batch_window.0;
    BatchLayer::new(config.batch_items)
        .window(match config.batch_window_mode {
            BatchWindow::WhileBusy => Window::WhileBusy(window),
            BatchWindow::Fixed => Window::Fixed(window),
        })
        .queue_capacity(config.max_requests)
        .group_by(Mergeable::group)
}
