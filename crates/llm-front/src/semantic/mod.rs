//! The parts of the semantic tier: who embeds, who has the last word, and which texts may be matched at all.

mod bound;
mod kept;
mod metrics;
mod secret;
mod text;
mod told;
mod words;

pub use kept::Kept;

pub(crate) use bound::bounded;
pub(crate) use metrics::SemanticMetrics;
pub(crate) use secret::secret;
pub(crate) use text::shown;
pub(crate) use words::Words;

use crate::config::Config;
use crate::config::types::{GuardRules, History, Semantic, SemanticMode};
use crate::errors::Chain;
use llm_backend::client;
use llm_embed::Embedder;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceExt};
use tower_semcache::hashed::{HashedEmbedder, Ngrams};
use tower_semcache::{Matching, Mode, Vector};
use tower_service::Service;

/// The parts of the tier that `config` asks for.
pub(crate) struct Tier {
    /// From a text to its vector.
    pub(crate) embedder: BoxCloneSyncService<Arc<str>, Vector, BoxError>,
    /// The last word.
    pub(crate) guard: Words,
    /// Longest wait for a vector.
    pub(crate) deadline: Duration,
    /// Whether what it finds is served.
    pub(crate) mode: Mode,
    /// What its look-ups are like; none: nothing is looked up here.
    pub(crate) asks: Option<Asks>,
}

/// What the look-ups of a semantic tier are like.
#[derive(Clone, Debug)]
pub(crate) struct Asks {
    /// How close is close enough.
    pub(crate) matching: Matching,
    /// What tells its vectors from another embedder's: part of every scope.
    pub(crate) embedder: Vec<u8>,
    /// Whether texts of which no similar one can have the answer are kept out.
    routes: bool,
    /// What of a chat may differ.
    history: History,
}

impl Tier {
    /// The tier that `config` asks for. Where the model is not there, only equal requests match, and the log says how to get
    /// it.
    ///
    /// # Errors
    /// The embedding server's URL cannot be used.
    pub(crate) fn new(config: &Config) -> Result<Self, BoxError> {
        let hashed = || {
            (
                boxed(HashedEmbedder::new(Ngrams::WordsAndPairs)),
                b"hashed".to_vec(),
            )
        };
        let ((embedder, id), matches) = match &config.semantic {
            Semantic::Off => (hashed(), false),
            Semantic::Hashed => (hashed(), true),
            Semantic::MiniLm | Semantic::MiniLmInt8 => match minilm(config) {
                Ok(found) => (found, true),
                Err(error) => {
                    tracing::warn!(
                        "rephrased requests are not matched, only equal ones: {}. `cargo xtask model fetch` gets the model, --model names its folder",
                        Chain(&*error)
                    );
                    (hashed(), false)
                }
            },
            Semantic::Server(url) => {
                let base = url.to_string();
                let limits = client::Limits::none()
                    .connect(config.connect_timeout.0)
                    .total(Duration::from_secs(30));
                let server = client::OpenAi::builder(base.parse()?)
                    .limits(limits)
                    .build();
                let embedder =
                    llm_embed::openai::OpenAi::new(server, &base, &config.embedding_model.0);
                let id = embedder.id().as_bytes().to_vec();
                ((told::told(boxed(embedder), &base), id), true)
            }
        };
        if matches {
            tracing::info!("rephrased requests are matched by {}", config.semantic);
        }
        let matching = match config.max_wrong.0 {
            Some(_) => Matching::Bounded,
            None => Matching::threshold(config.threshold.0)?,
        };
        let asks = Asks {
            matching,
            embedder: id,
            routes: matches!(config.guard, GuardRules::English | GuardRules::Verified),
            history: config.history,
        };
        // Of a conversation only what is to be answered is embedded.
        let embedder = match config.history {
            History::Equal => embedder,
            History::Guarded => boxed(embedder.map_request(text::last)),
        };
        Ok(Self {
            embedder,
            guard: Words::new(config.guard, config.history),
            deadline: config.embed_timeout.0,
            mode: match config.semantic_mode {
                SemanticMode::Serve => Mode::Serve,
                SemanticMode::Shadow => Mode::Shadow,
            },
            asks: matches.then_some(asks),
        })
    }
}

impl fmt::Debug for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tier")
            .field("guard", &self.guard)
            .field("asks", &self.asks)
            .finish_non_exhaustive()
    }
}

type Found = (BoxCloneSyncService<Arc<str>, Vector, BoxError>, Vec<u8>);

#[cfg(feature = "minilm")]
fn minilm(config: &Config) -> Result<Found, BoxError> {
    use llm_embed::minilm::{MiniLm, Precision};

    let precision = match config.semantic {
        Semantic::MiniLmInt8 => Precision::Int8,
        _ => Precision::Fp32,
    };
    let model = MiniLm::builder()
        .precision(precision)
        .load(&config.model.0)?;
    let id = model.id().as_bytes().to_vec();
    Ok((boxed(model.service()), id))
}

#[cfg(not(feature = "minilm"))]
fn minilm(_: &Config) -> Result<Found, BoxError> {
    Err("this build is without the model's runtime: build with the feature `minilm`".into())
}

fn boxed<E>(embedder: E) -> BoxCloneSyncService<Arc<str>, Vector, BoxError>
where
    E: Service<Arc<str>, Response = Vector> + Clone + Send + Sync + 'static,
    E::Error: Into<BoxError>,
    E::Future: Send,
{
    BoxCloneSyncService::new(embedder.map_err(Into::into))
}
