//! Text embedders as tower services.
//!
//! An embedder is a `Service<Arc<str>, Response = Vector>`, which is what the semantic tier of
//! [`tower_semcache`] takes: limits, deadlines and batching stack on it. [`Embedder`] adds an
//! [`id`](Embedder::id), a digest that tells vectors apart which must not be compared.
//!
//! | feature | embedder | where it computes |
//! |---|---|---|
#![cfg_attr(
    feature = "minilm",
    doc = "| `minilm` | [`minilm::MiniLm`]: all-MiniLM-L6-v2 | here, on threads of its own |"
)]
#![cfg_attr(
    feature = "openai",
    doc = "| `openai` | [`openai::OpenAi`]: any server with `/v1/embeddings` | there |"
)]
//!
//! The embedder without a model, hashed n-grams, is in [`tower_semcache`] itself (feature `hashed`).
#![forbid(unsafe_code)]

mod embedder;
#[cfg(feature = "minilm")]
pub mod error;
#[cfg(feature = "minilm")]
pub mod minilm;
#[cfg(feature = "openai")]
pub mod openai;

pub use self::embedder::{Embedder, EmbedderId};

#[cfg(all(doctest, feature = "minilm"))]
#[doc = include_str!("../README.md")]
struct Readme;
