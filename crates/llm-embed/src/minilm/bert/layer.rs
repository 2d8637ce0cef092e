//! One layer of the encoder: attention, then two dense layers.

use rten_simd::SimdUnaryOp;
use rten_vecmath::Gelu;
use tower::BoxError;

use super::attention::{Attention, Spans};
use super::config::Config;
use super::dense::Dense;
use super::linear::Onto;
use super::norm::LayerNorm;
use super::weights::Weights;
use super::work::Work;
use crate::minilm::Precision;

pub(super) struct Layer {
    attention: Attention,
    attention_norm: LayerNorm,
    wider: Dense,
    narrower: Dense,
    norm: LayerNorm,
}

// === impl Layer ===

impl Layer {
    pub(super) fn load(
        precision: Precision,
        config: &Config,
        weights: &Weights<'_>,
        number: usize,
    ) -> Result<Self, BoxError> {
        let (width, between) = (config.hidden_size, config.intermediate_size);
        let dense = |name: &str, outputs: usize, inputs: usize| {
            let name = format!("encoder.layer.{number}.{name}");
            let weight = weights.get(&format!("{name}.weight"), &[outputs, inputs])?;
            let bias = weights.get(&format!("{name}.bias"), &[outputs])?;
            Ok::<_, BoxError>((weight, bias))
        };
        let linear = |name: &str, outputs: usize, inputs: usize| {
            let (weight, bias) = dense(name, outputs, inputs)?;
            Dense::new(precision, &weight, bias, inputs)
        };
        let norm = |name: &str| {
            let name = format!("encoder.layer.{number}.{name}.LayerNorm");
            weights.norm(&name, width, config.layer_norm_eps)
        };
        let (mut weight, mut bias) = dense("attention.self.query", width, width)?;
        let scale = config.depth().sqrt().recip();
        weight.iter_mut().chain(&mut bias).for_each(|x| *x *= scale);
        for name in ["attention.self.key", "attention.self.value"] {
            let (more_weight, more_bias) = dense(name, width, width)?;
            weight.extend(more_weight);
            bias.extend(more_bias);
        }
        Ok(Self {
            attention: Attention {
                heads: config.num_attention_heads,
                project: Dense::new(precision, &weight, bias, width)?,
                output: linear("attention.output.dense", width, width)?,
            },
            attention_norm: norm("attention.output")?,
            wider: linear("intermediate.dense", between, width)?,
            narrower: linear("output.dense", width, between)?,
            norm: norm("output")?,
        })
    }

    /// `hidden` holds the tokens of a batch one after the other.
    pub(super) fn apply(
        &self,
        work: &mut Work,
        config: &Config,
        hidden: &mut [f32],
        spans: &Spans,
    ) -> Result<(), BoxError> {
        let width = config.hidden_size;
        self.attention.apply(work, hidden, width, spans)?;
        self.attention_norm.apply(hidden);
        let tokens = hidden.len() / width;
        let Work {
            threads,
            int8,
            wide,
            ..
        } = work;
        let between = wide.of(tokens * config.intermediate_size);
        self.wider
            .apply(*threads, int8, hidden, between, Onto::Fresh)?;
        Gelu {}.map_mut(between);
        self.narrower
            .apply(*threads, int8, between, hidden, Onto::Sum)?;
        self.norm.apply(hidden);
        Ok(())
    }
}
