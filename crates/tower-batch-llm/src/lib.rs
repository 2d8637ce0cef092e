//! Async dynamic batching for any tower [`Service`](tower_service::Service) of batches.
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
    adapter::{BatchFn, PerItem, batch_fn},
    batch::{Batch, Item},
    cost::{Oversized, SoFar},
    layer::{BatchLayer, DEFAULT_MAX_IN_FLIGHT, DEFAULT_QUEUE_CAPACITY, DEFAULT_WINDOW},
    responder::Responder,
    service::Batcher,
    stats::{Snapshot, Stats},
    window::Window,
};
