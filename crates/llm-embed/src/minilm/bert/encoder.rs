//! The whole encoder.

use tower::BoxError;

use super::config::Config;
use super::layer::Layer;
use super::norm::LayerNorm;
use super::weights::Weights;
use super::work::Work;
use crate::minilm::Precision;

pub(in crate::minilm) struct Encoder {
    config: Config,
    words: Vec<f32>,
    /// One row a position; the embedding of the only segment is already added.
    positions: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

// === impl Encoder ===

impl Encoder {
    /// Takes the weights out of the bytes of a `safetensors` file.
    pub(in crate::minilm) fn load(
        config: Config,
        precision: Precision,
        file: &[u8],
    ) -> Result<Self, BoxError> {
        if let Some(reason) = config.unsupported() {
            return Err(reason.into());
        }
        let weights = Weights::parse(file)?;
        let width = config.hidden_size;
        let words = weights.get(
            "embeddings.word_embeddings.weight",
            &[config.vocab_size, width],
        )?;
        let mut positions = weights.get(
            "embeddings.position_embeddings.weight",
            &[config.max_position_embeddings, width],
        )?;
        let segments = weights.get(
            "embeddings.token_type_embeddings.weight",
            &[config.type_vocab_size, width],
        )?;
        for position in positions.chunks_exact_mut(width) {
            add(position, &segments);
        }
        let norm = weights.norm("embeddings.LayerNorm", width, config.layer_norm_eps)?;
        let layers = (0..config.num_hidden_layers)
            .map(|number| Layer::load(precision, &config, &weights, number))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            config,
            words,
            positions,
            norm,
            layers,
        })
    }

    /// One vector a text: the mean over its tokens, of norm one. `threads` may compute.
    pub(in crate::minilm) fn embed(
        &self,
        texts: &[&[u32]],
        threads: usize,
    ) -> Result<Vec<Vec<f32>>, BoxError> {
        let width = self.config.hidden_size;
        let tokens = self.tokens(texts, threads)?;
        let mut rows = tokens.chunks_exact(width);
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let mut mean = vec![0.0; width];
            for row in rows.by_ref().take(text.len()) {
                add(&mut mean, row);
            }
            // The sum has the direction of the mean; its length goes with the normalisation.
            let norm = mean.iter().map(|x| x * x).sum::<f32>().sqrt();
            let scale = norm.max(f32::MIN_POSITIVE).recip();
            mean.iter_mut().for_each(|x| *x *= scale);
            vectors.push(mean);
        }
        Ok(vectors)
    }

    /// One vector a token, the tokens of all texts one after the other.
    fn tokens(&self, texts: &[&[u32]], threads: usize) -> Result<Vec<f32>, BoxError> {
        let width = self.config.hidden_size;
        let total = texts.iter().map(|text| text.len()).sum::<usize>();
        let mut hidden = Vec::with_capacity(total * width);
        let mut spans = Vec::with_capacity(texts.len());
        for text in texts {
            let start = hidden.len() / width;
            let mut positions = self.positions.chunks_exact(width);
            for token in *text {
                let at = *token as usize * width;
                let word = self.words.get(at..at + width).ok_or("no such token")?;
                let position = positions.next().ok_or("more tokens than positions")?;
                hidden.extend(word.iter().zip(position).map(|(x, y)| x + y));
            }
            spans.push(start..start + text.len());
        }
        self.norm.apply(&mut hidden);
        let mut work = Work::new(threads);
        for layer in &self.layers {
            layer.apply(&mut work, &self.config, &mut hidden, &spans)?;
        }
        Ok(hidden)
    }
}

fn add(to: &mut [f32], what: &[f32]) {
    for (x, y) in to.iter_mut().zip(what) {
        *x += y;
    }
}
