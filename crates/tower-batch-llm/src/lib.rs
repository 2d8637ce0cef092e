//! Async dynamic batching for any tower [`Service`](tower_service::Service) of batches.
//!
//! Callers see a service of single requests, [`Batcher`]. Behind it, items that come at about the
//! same time are sent to the inner service in one call, as a [`Batch`]. Every [`Item`] carries a
//! [`Responder`] of its own, so that items are answered one by one: a short answer does not wait
//! for a long one, an answer may be a stream, and whoever left is seen and skipped.
//!
//! The inner service is a `Service<Batch<Req, Res>, Response = ()>` that can be cloned. Write one,
//! or make one: [`batch_fn`](batch_fn()) of a function over whole batches, [`PerItem`] of a service
//! of single requests.
//!
//! # Examples
//!
//! Eight squares a call, at most:
//!
//! ```
//! use tower::{BoxError, Layer, ServiceExt};
//! use tower_batch_llm::{BatchLayer, batch_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let squares = BatchLayer::new(8).layer(batch_fn(|numbers: Vec<u64>| async move {
//!     Ok::<_, BoxError>(numbers.into_iter().map(|n| Ok(n * n)).collect())
//! }));
//! assert_eq!(squares.oneshot(7_u64).await?, 49);
//! # Ok(())
//! # }
//! ```
//!
//! A batch of prompts that a padded tensor of 4,096 tokens can hold, all for the same model; each
//! prompt is answered as soon as it is done:
//!
//! ```
//! use std::time::Duration;
//!
//! use tower::{BoxError, Layer, Service, ServiceExt, service_fn};
//! use tower_batch_llm::{Batch, BatchLayer, Oversized, Window, cost};
//!
//! struct Prompt {
//!     model: &'static str,
//!     tokens: Vec<u32>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let layer = BatchLayer::new(32)
//!     .window(Window::WhileBusy(Duration::from_millis(4)))
//!     .max_cost(4_096, cost::padded(|prompt: &Prompt| prompt.tokens.len() as u64))
//!     .oversized(Oversized::Refuse)
//!     .group_by(|prompt| prompt.model)
//!     .max_in_flight(4)
//!     .queue_capacity(256);
//! let stats = layer.stats();
//!
//! let mut model = layer.layer(service_fn(|batch: Batch<Prompt, u32>| async move {
//!     for item in batch {
//!         let sum = item.request.tokens.iter().sum();
//!         item.responder.send(Ok(sum));
//!     }
//!     Ok::<_, BoxError>(())
//! }));
//!
//! let ask = |tokens| Prompt { model: "m", tokens };
//! let first = model.ready().await?.call(ask(vec![1, 2]));
//! let second = model.ready().await?.call(ask(vec![3]));
//! assert_eq!((first.await?, second.await?), (3, 3));
//! assert_eq!(stats.snapshot().batches_of(2), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # How batches are formed
//!
//! Items wait in the order of their arrival, those of each [group](BatchLayer::group_by) in a
//! queue of their own. A batch is what stands at the head of a queue: up to `max_items` items, as
//! many as `max_cost` allows. It goes
//!
//! * at once when it is full: it has `max_items` items, its cost has reached the limit, or the
//!   next item would push it beyond;
//! * at once when the queue is full, since nobody could join;
//! * when its [`Window`] ends, which runs from the arrival of its oldest item;
//! * at once when no batch is running, under [`Window::WhileBusy`];
//! * at once when the last handle is dropped;
//!
//! and no sooner than fewer than `max_in_flight` batches are running and the inner service is
//! ready. It is cut off only as it goes. Until then it takes items in, and whoever leaves makes
//! room for the next.
//!
//! # Back-pressure
//!
//! A [`Batcher`] reserves a place in the queue in `poll_ready` and takes it in `call`. The place is
//! free again when the item goes out with its batch, when its caller leaves, and, if it was not
//! used, when its handle is dropped. With all `queue_capacity` places taken the service is not
//! ready; nothing is ever shed or lost. Places are given out first come, first served. As with
//! every service that reserves, a handle that waits for its place, or has it, and is neither
//! polled nor dropped keeps it from others.
//!
//! Readiness of the inner service is asked for only when a batch is due, on a clone made for that
//! batch, and it is that clone which is called. So there is no capacity held without a batch to
//! use it for, and a batch goes on filling while the inner service is not ready.
//!
//! # Cancellation
//!
//! A caller leaves by dropping its [`ResponseFuture`](future::ResponseFuture).
//!
//! * While its item waits, it is taken out at once: it is not sent, not counted to `max_items` or
//!   `max_cost`, and the window runs from the oldest item that stays. An empty batch is never sent.
//! * While its batch is running, [`Responder::is_closed`] turns true and [`Responder::closed`]
//!   ends; the others are not disturbed. As soon as nobody waits for the batch any more, its call
//!   is dropped. Where all were answered instead, the call may finish what it does afterwards.
//!
//! An item counts as answered once its responder has sent. If what it sent is a stream, the end of
//! that stream is a matter between sender and receiver.
//!
//! Dropping the last handle sends what is queued, within all limits, and lets running batches
//! finish; then the worker ends.
//!
//! # Errors
//!
//! An error belongs to its batch or to its item, never to the service; all types are in [`error`].
//!
//! * The call of a batch fails, or the inner service fails to become ready for it: each item
//!   without an answer gets [`Failed`](error::Failed), whose source is the original error, shared.
//! * An item is answered with an error: its caller gets that error as it is.
//! * A responder is dropped without an answer and the call ends well:
//!   [`Unanswered`](error::Unanswered). A `batch_fn` returns too few results:
//!   [`MissingResult`](error::MissingResult).
//! * An oversized item under [`Oversized::Refuse`]: [`TooLarge`](error::TooLarge).
//! * The worker is gone, since its runtime was shut down: [`Closed`](error::Closed), for whoever
//!   waits for an answer or for readiness, and ever after.
//!
//! # Panics
//!
//! [`BatchLayer::layer`](tower_layer::Layer::layer) panics outside of a tokio runtime, since it
//! spawns the worker; nothing else in this crate does.
//!
//! A panic of the inner service (in `clone`, `poll_ready`, `call`, or its future) is a
//! [`Panicked`](error::Panicked) for the unanswered items of that batch, and one of the cost or
//! the grouping function for the item it looked at. The next batch has a clone of its own, from an
//! original that is never called. If other code of the caller panics in the worker (a key's `Hash`
//! or a request's `Drop`), the worker ends, and everybody gets [`Closed`](error::Closed).
#![forbid(unsafe_code)]

mod adapter;
mod audience;
mod backlog;
mod batch;
mod call;
pub mod cost;
pub mod error;
mod failure;
pub mod future;
mod layer;
mod queue;
mod responder;
mod service;
mod stats;
mod ticket;
mod window;
mod worker;

pub use self::{
    adapter::{BatchFn, BatchResult, PerItem, batch_fn},
    batch::{Batch, Item},
    cost::{Oversized, SoFar},
    layer::{BatchLayer, DEFAULT_MAX_IN_FLIGHT, DEFAULT_QUEUE_CAPACITY, DEFAULT_WINDOW},
    responder::Responder,
    service::Batcher,
    stats::{Snapshot, Stats},
    window::Window,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
