//! From texts to vectors of norm one.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use llm_backend::client;
use llm_embed::minilm::{MiniLm, Precision};
use llm_embed::openai::OpenAi;
use llm_embed::{Embedder as _, EmbedderId};
use tower::{BoxError, ServiceExt};
use tower_semcache::Vector;
use tower_semcache::guard::last_message;
use tower_semcache::hashed::{HashedEmbedder, Ngrams};

use crate::command::Progress;

/// An embedder, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Named {
    /// The reference's hashed n-grams: words
    HashedWords,
    /// The reference's hashed n-grams: words and pairs of neighbours
    Hashed,
    /// all-MiniLM-L6-v2 (`cargo xtask model fetch`)
    Minilm,
    /// The same in 8-bit integers
    MinilmInt8,
    /// Any OpenAI-compatible server (`--url`, `--model`)
    Openai,
}

/// What the embedders need to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder of all-MiniLM-L6-v2.
    pub folder: PathBuf,
    /// How many threads compute.
    pub threads: usize,
    /// The server.
    pub url: Option<String>,
    /// The server's model.
    pub model: Option<String>,
}

/// The vectors of a set's texts.
#[derive(Clone, Debug)]
pub struct Vectors {
    by_text: HashMap<Arc<str>, Box<[f32]>>,
    /// What identifies them; the hashed embedders are identified by their name.
    pub id: Option<EmbedderId>,
    /// Texts without a vector: past the window, for one. They never match.
    pub refused: usize,
}

/// Texts computed between two steps of the progress bar.
const STEP: usize = 64;

/// How long a server may take for one step.
const DEADLINE: Duration = Duration::from_secs(120);

// === impl Named ===

impl Named {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HashedWords => "hashed-words",
            Self::Hashed => "hashed",
            Self::Minilm => "minilm",
            Self::MinilmInt8 => "minilm-int8",
            Self::Openai => "openai",
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// === impl Settings ===

impl Settings {
    /// Whether the model has been fetched.
    #[must_use]
    pub fn has_minilm(&self) -> bool {
        self.folder.join("model.safetensors").exists()
    }
}

// === impl Vectors ===

impl Vectors {
    /// Embeds texts; of a conversation, its last message.
    ///
    /// # Errors
    ///
    /// The model is not there, or the server cannot be asked. A text that is past the window is no error.
    pub fn embed(
        embedder: Named,
        settings: &Settings,
        texts: &[Arc<str>],
    ) -> Result<Self, BoxError> {
        match embedder {
            Named::HashedWords => Ok(hashed(Ngrams::Words, texts)),
            Named::Hashed => Ok(hashed(Ngrams::WordsAndPairs, texts)),
            Named::Minilm => minilm(Precision::Fp32, settings, texts),
            Named::MinilmInt8 => minilm(Precision::Int8, settings, texts),
            Named::Openai => openai(settings, texts),
        }
    }

    /// The vector of a text; `None` where it has none.
    #[must_use]
    pub fn of(&self, text: &str) -> Option<&[f32]> {
        self.by_text.get(text).map(|vector| &**vector)
    }

    fn new(id: Option<EmbedderId>) -> Self {
        Self {
            by_text: HashMap::new(),
            id,
            refused: 0,
        }
    }

    fn put(&mut self, text: &Arc<str>, vector: Option<&Vector>) {
        match vector.and_then(unit) {
            Some(unit) => drop(self.by_text.insert(Arc::clone(text), unit)),
            None => self.refused += 1,
        }
    }
}

/// The cosine of two vectors of norm one.
#[must_use]
pub fn cosine(one: &[f32], two: &[f32]) -> f64 {
    const LANES: usize = 16;
    let (one, one_rest) = one.as_chunks::<LANES>();
    let (two, two_rest) = two.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in one.iter().zip(two) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    let rest: f32 = one_rest.iter().zip(two_rest).map(|(x, y)| x * y).sum();
    sums.iter().map(|x| f64::from(*x)).sum::<f64>() + f64::from(rest)
}

/// As the cache does it: no direction, no match.
fn unit(vector: &Vector) -> Option<Box<[f32]>> {
    let squares = vector.as_slice().iter().map(|x| f64::from(*x).powi(2));
    let norm = squares.sum::<f64>().sqrt();
    (norm.is_finite() && norm > 0.0).then(|| {
        let scaled = vector.as_slice().iter();
        scaled.map(|x| (f64::from(*x) / norm) as f32).collect()
    })
}

fn hashed(ngrams: Ngrams, texts: &[Arc<str>]) -> Vectors {
    let embedder = HashedEmbedder::new(ngrams);
    let mut vectors = Vectors::new(None);
    for text in texts {
        vectors.put(text, Some(&embedder.embed(last_message(text))));
    }
    vectors
}

fn minilm(
    precision: Precision,
    settings: &Settings,
    texts: &[Arc<str>],
) -> Result<Vectors, BoxError> {
    let Settings {
        folder, threads, ..
    } = settings;
    let model = load(precision, folder, *threads)?;
    let mut vectors = Vectors::new(Some(model.id()));
    let mut progress = Progress::new("embedding");
    for (step, some) in texts.chunks(STEP).enumerate() {
        progress.at(step * STEP, texts.len());
        let lasts: Vec<_> = some.iter().map(|text| last_message(text)).collect();
        for (text, vector) in some.iter().zip(model.embed_each(&lasts)) {
            vectors.put(text, vector.ok().as_ref());
        }
    }
    Ok(vectors)
}

fn load(precision: Precision, folder: &Path, threads: usize) -> Result<MiniLm, BoxError> {
    MiniLm::builder()
        .threads(threads)
        .precision(precision)
        .load(folder)
        .map_err(|error| {
            let fix = "`cargo xtask model fetch` gets it, --model-dir names another folder";
            format!("{error}: {fix}").into()
        })
}

fn openai(settings: &Settings, texts: &[Arc<str>]) -> Result<Vectors, BoxError> {
    let (Some(url), Some(model)) = (&settings.url, &settings.model) else {
        return Err("--embedder openai needs --url and --model".into());
    };
    let client = client::OpenAi::new(url.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let service = OpenAi::new(client, url, model);
        let mut vectors = Vectors::new(Some(service.id()));
        let mut progress = Progress::new("embedding");
        for (step, some) in texts.chunks(STEP).enumerate() {
            progress.at(step * STEP, texts.len());
            let calls: Vec<_> = some
                .iter()
                .map(|text| tokio::spawn(service.clone().oneshot(last_message(text).into())))
                .collect();
            for (text, call) in some.iter().zip(calls) {
                match tokio::time::timeout(DEADLINE, call).await?? {
                    Ok(vector) => vectors.put(text, Some(&vector)),
                    Err(error) if error.is::<llm_embed::openai::Refused>() => {
                        vectors.put(text, None);
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(vectors)
    })
}
