//! all-MiniLM-L6-v2, computed in this process, in Rust alone.
//!
//! [`MiniLm`] is the model: load it from a folder in the usual layout of Hugging Face
//! (`cargo xtask model fetch` makes one) and embed as many texts as you like, on the calling thread.
//! [`MiniLm::service`] makes the tower service of it: calls that come together are computed
//! together, on the model's own threads.
//!
//! ```no_run
//! use llm_embed::minilm::MiniLm;
//!
//! # fn main() -> Result<(), tower::BoxError> {
//! let model = MiniLm::load("models/all-MiniLM-L6-v2")?;
//! let vectors = model.embed(&["convert 5 km to miles", "how many miles is 5 km"])?;
//! assert_eq!(vectors[0].as_slice().len(), 384);
//! # Ok(())
//! # }
//! ```
//!
//! As a service, with four threads, and batches of at most 16 texts:
//!
//! ```no_run
//! use llm_embed::Embedder;
//! use llm_embed::minilm::{self, MiniLm};
//! use tower::ServiceExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower::BoxError> {
//! let model = MiniLm::builder().threads(4).load("models/all-MiniLM-L6-v2")?;
//! let embedder = model.service_with(minilm::batches(16));
//! println!("{}", embedder.id());
//! let vector = embedder.oneshot("convert 5 km to miles".into()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # The folder
//!
//! | file | what for |
//! |---|---|
//! | `config.json` | the shape of the encoder |
//! | `model.safetensors` | its weights, 32-bit |
//! | `tokenizer.json` | the tokenizer; its padding and its truncation are not used |
//! | `sentence_bert_config.json` | the window in tokens; 256 where it is missing |
//!
//! Any BERT encoder with mean pooling works. The [id](crate::EmbedderId) covers the bytes of the
//! first three files, and the precision.
//!
//! # Precision
//!
//! [`Precision::Int8`] computes the dense layers in 8-bit integers, made of the same file when it is
//! loaded: a quarter of the memory for them, and two to three times as fast with VNNI. Every output's
//! weights and every token's inputs have a scale of their own, so that in either precision a text has
//! the same vector, bit for bit, alone and in any batch. Over 200 texts the cosine of the two vectors
//! of a text is 0.992 at least and 0.999 on average (`tests/minilm.rs`). They have different
//! [ids](crate::EmbedderId): what one has stored the other does not find, and thresholds have to be
//! found for each. Where products are added up in 16 bits (x86 without VNNI) weights have
//! 7 bits: the least cosine is 0.986, and the id yet another.
//!
//! # The window
//!
//! A text of more tokens than the window has (256 for all-MiniLM-L6-v2, which was trained on no
//! longer ones) is refused with [`TooLong`](crate::error::TooLong), never cut. So is one of more
//! than 64 bytes a token of the window, before it is read.
//!
//! # Back-pressure
//!
//! The [`Service`] reserves a place in the queue of its batcher in `poll_ready` and takes it in
//! `call`; with the queue full it is not ready. One batch is computed at a time, which keeps all
//! threads busy. A lone text goes at once.
//!
//! # Cancellation
//!
//! A text whose future is dropped before its batch goes is not embedded. A batch that has begun is
//! computed to its end (some tens of milliseconds), whoever waits for it.
//!
//! # Errors
//!
//! [`NotLoaded`](crate::error::NotLoaded) names the file that is missing or unfit. A text past the
//! window gets [`TooLong`](crate::error::TooLong) alone, others of its batch are embedded. What the
//! batcher adds is in its own documentation.
//!
//! # Panics
//!
//! [`MiniLm::service`] panics outside of a tokio runtime. A panic of the computation is a
//! [`Died`](crate::error::Died) for the batch that it happened in.

mod bert;
mod folder;
mod model;
mod precision;
mod service;
mod tokens;

pub use self::{
    model::{Builder, MiniLm},
    precision::Precision,
    service::{Service, batches},
};
