//! The model, called by hand.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tower::BoxError;
use tower_batch_llm::BatchLayer;
use tower_semcache::Vector;

use super::Precision;
use super::bert::Encoder;
use super::folder::{self, Loaded};
use super::service::{Service, batches};
use super::tokens::Tokens;
use crate::embedder::EmbedderId;
use crate::error::NotLoaded;

/// Texts computed in one pass have about this many tokens together: 32 short ones, for which the
/// weights are then read once. Cut in two, so that what is between two layers stays in a core's
/// second cache, they take 6 % longer in 32-bit, and 3 % less in 8-bit.
const TOKENS_A_PASS: usize = 512;

/// all-MiniLM-L6-v2, or another BERT encoder with mean pooling. Clones share the weights.
///
/// See the [module docs](super).
#[derive(Clone)]
pub struct MiniLm {
    shared: Arc<Shared>,
}

struct Shared {
    encoder: Encoder,
    tokens: Tokens,
    dimensions: usize,
    id: EmbedderId,
    precision: Precision,
    threads: ThreadPool,
}

/// How to load a [`MiniLm`].
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    threads: NonZeroUsize,
    precision: Precision,
}

// === impl MiniLm ===

impl MiniLm {
    /// Loads the model of a folder, with one thread.
    ///
    /// # Errors
    ///
    /// A file is missing or unfit; see the [module docs](super) for which there must be.
    pub fn load(folder: impl AsRef<Path>) -> Result<Self, NotLoaded> {
        Self::builder().load(folder)
    }

    /// Sets how to load.
    #[must_use]
    pub const fn builder() -> Builder {
        Builder {
            threads: NonZeroUsize::MIN,
            precision: Precision::Fp32,
        }
    }

    /// What identifies the vectors of this model.
    #[must_use]
    pub fn id(&self) -> EmbedderId {
        self.shared.id
    }

    /// In which numbers it computes.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.shared.precision
    }

    /// Coordinates of a vector: 384 for all-MiniLM-L6-v2.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.shared.dimensions
    }

    /// The most tokens that a text may have, the two special ones included.
    #[must_use]
    pub fn window(&self) -> usize {
        self.shared.tokens.window()
    }

    /// The vectors of these texts, of norm one, in their order.
    ///
    /// The caller waits while the model's threads compute.
    ///
    /// # Errors
    ///
    /// The first text that cannot be embedded: [`TooLong`](crate::error::TooLong), in all likelihood.
    pub fn embed<T>(&self, texts: &[T]) -> Result<Vec<Vector>, BoxError>
    where
        T: AsRef<str> + Sync,
    {
        self.embed_each(texts).into_iter().collect()
    }

    /// The vector of each of these texts, or why it has none.
    pub fn embed_each<T>(&self, texts: &[T]) -> Vec<Result<Vector, BoxError>>
    where
        T: AsRef<str> + Sync,
    {
        self.shared.threads.install(|| self.compute(texts))
    }

    /// A service with a queue, batches and an answer for each text; [`batches`] of 32.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn service(&self) -> Service {
        self.service_with(batches(32))
    }

    /// The same with batches as you like them. Keep `max_in_flight` at one: a batch has all threads.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn service_with(&self, batches: BatchLayer<Arc<str>, Vector>) -> Service {
        Service::new(self.clone(), batches)
    }

    pub(super) fn threads(&self) -> &ThreadPool {
        &self.shared.threads
    }

    /// Computes on the thread that it is called on, and those of its pool.
    pub(super) fn compute<T>(&self, texts: &[T]) -> Vec<Result<Vector, BoxError>>
    where
        T: AsRef<str> + Sync,
    {
        let Shared {
            encoder, tokens, ..
        } = &*self.shared;
        let mut results: Vec<_> = texts.iter().map(|text| tokens.of(text.as_ref())).collect();
        let whole: Vec<_> = results.iter().flatten().map(Vec::as_slice).collect();
        let threads = rayon::current_num_threads();
        let passes = passes(&whole, threads);
        // A lone text has all threads; of many each has its own.
        let threads = threads / passes.len().max(1);
        let vectors: Result<Vec<_>, _> = passes
            .par_iter()
            .map(|pass| encoder.embed(pass, threads))
            .collect();
        let (vectors, error) = match vectors {
            Ok(vectors) => (vectors, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let mut vectors = vectors.into_iter().flatten();
        let mut embed = |_| match (vectors.next(), &error) {
            (Some(vector), _) => Ok(Vector::from(vector)),
            (None, Some(error)) => Err(error.as_str().into()),
            (None, None) => Err("no vector".into()),
        };
        results
            .drain(..)
            .map(|tokens| tokens.and_then(&mut embed))
            .collect()
    }
}

/// Cuts a batch into parts, so that every thread has its share of the tokens.
fn passes<'a, 'b>(texts: &'a [&'b [u32]], threads: usize) -> Vec<&'a [&'b [u32]]> {
    let total = texts.iter().map(|text| text.len()).sum::<usize>();
    let limit = TOKENS_A_PASS.min(total.div_ceil(threads.max(1))).max(1);
    let mut passes = Vec::new();
    let mut rest = texts;
    while !rest.is_empty() {
        let mut tokens = 0;
        let fitting = rest.iter().take_while(|text| {
            tokens += text.len();
            tokens <= limit
        });
        let (pass, after) = rest.split_at(fitting.count().max(1));
        passes.push(pass);
        rest = after;
    }
    passes
}

impl fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MiniLm")
            .field("id", &self.id())
            .field("dimensions", &self.dimensions())
            .field("window", &self.window())
            .field("precision", &self.precision())
            .field("threads", &self.shared.threads.current_num_threads())
            .finish_non_exhaustive()
    }
}

// === impl Builder ===

impl Builder {
    /// How many threads compute; zero is taken as one. They belong to this model alone.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = match NonZeroUsize::new(threads) {
            Some(threads) => threads,
            None => NonZeroUsize::MIN,
        };
        self
    }

    /// In which numbers to compute; [`Precision::Fp32`] unless set.
    #[must_use]
    pub const fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Loads the model of a folder.
    ///
    /// # Errors
    ///
    /// A file is missing or unfit; see the [module docs](super) for which there must be.
    pub fn load(self, folder: impl AsRef<Path>) -> Result<MiniLm, NotLoaded> {
        let folder = folder.as_ref();
        let Loaded {
            encoder,
            tokens,
            dimensions,
            id,
        } = folder::load(folder, self.precision)?;
        let threads = ThreadPoolBuilder::new()
            .num_threads(self.threads.get())
            .thread_name(|number| format!("embed-{number}"))
            // A panic costs its batch: whoever waits for it sees that the answer will not come.
            .panic_handler(drop)
            .build()
            .map_err(|source| NotLoaded::new(folder, source))?;
        Ok(MiniLm {
            shared: Arc::new(Shared {
                encoder,
                tokens,
                dimensions,
                id,
                precision: self.precision,
                threads,
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_cut_for_the_threads_and_for_the_caches_and_loses_nothing() {
        let texts: Vec<Vec<u32>> = (1..60).map(|n| vec![n; n as usize]).collect();
        let texts: Vec<&[u32]> = texts.iter().map(Vec::as_slice).collect();
        for (count, threads) in [(59, 1), (59, 4), (4, 4), (1, 4), (0, 1)] {
            let texts = &texts[..count];
            let passes = passes(texts, threads);
            assert_eq!(passes.concat(), texts);
            let expected = if threads > 1 { 2.min(count) } else { 0 };
            assert!(passes.len() >= expected, "{count} {threads}");
            for pass in passes {
                let tokens: usize = pass.iter().map(|text| text.len()).sum();
                assert!(tokens <= TOKENS_A_PASS || pass.len() == 1);
            }
        }
    }
}
