//! Turns a batch into as few upstream calls as it can: requests equal in everything but their input become one call, and its
//! answer is split among them again.
//!
//! # Back-pressure
//! Always ready; the batcher above bounds the calls.
//!
//! # Cancellation
//! A caller who leaves does not stop the call of the others; when the last one has left, it is dropped.
//!
//! # Errors
//! None of its own: every item gets its answer or its error through its responder. After a refusal (4xx, but 408 and 429) of a
//! merged call each request is sent alone, so that one bad request fails alone.
//!
//! # Panics
//! None.

use crate::asked::Carry;
use crate::errors::Refusal;
use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all, select_all};
use http::{HeaderMap, Request, Response, StatusCode, Uri, header};
use http_body::Body;
use http_body_util::{BodyExt, Limited};
use llm_backend::RequestBody;
use llm_backend::merge::{self, Part};
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::{BoxError, ServiceExt};
use tower_batch_llm::{Batch, Item};
use tower_layer::Layer;
use tower_service::Service;

/// The largest merged answer that is read: an answer to a batch is held whole to be split.
const ANSWER_LIMIT: usize = 256 << 20;

type Call = Item<Request<RequestBody>, Response<Bytes>>;

/// Merges batches of requests for `inner`.
#[derive(Clone, Debug)]
pub struct MergeLayer {
    model: Arc<str>,
}

impl MergeLayer {
    /// `/v1/generate` without a model asks for `model`.
    #[must_use]
    pub fn new(model: impl Into<Arc<str>>) -> Self {
        Self { model: model.into() }
    }
}

impl<S> Layer<S> for MergeLayer {
    type Service = Merge<S>;
    fn layer(&self, inner: S) -> Merge<S> {
        Merge { inner, model: self.model.clone() }
    }
}
