//! A transformer's step from a dozen coefficients.

use super::{Batch, CostModel};

/// The time of a step, in milliseconds:
///
/// ```text
/// max(a0 + a1·n, c0 + c1·n) + s0 + s1·B
///   + L·[d0 + d1·(S + α·(n_dec·kv_max − S))]
///   + L·Σ over chunks of [e0 + e1·p·(kv + p/2)]
/// ```
///
/// n tokens in the step, B sequences, L layers, S the Σ of contexts of the decoding sequences, p
/// the tokens of a chunk and kv its history. The first term is the linear layers (bound by memory,
/// then by arithmetic), s is sampling and the host, d the attention of decoding, e that of prefill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    /// Linear layers bound by memory: milliseconds, and milliseconds a token.
    pub memory: [f64; 2],
    /// Linear layers bound by arithmetic: milliseconds, and milliseconds a token.
    pub compute: [f64; 2],
    /// Sampling and the host: milliseconds, and milliseconds a sequence.
    pub sampling: [f64; 2],
    /// Layers, L.
    pub layers: f64,
    /// Attention of decoding, a layer: milliseconds, and milliseconds a context token.
    pub decode: [f64; 2],
    /// α: what uneven contexts cost, 0 for none and 1 for padding to the longest.
    pub unevenness: f64,
    /// Attention of prefill, a layer and chunk: milliseconds, and milliseconds a pair of tokens.
    pub prefill: [f64; 2],
}

impl Roofline {
    /// A model of nothing: the start for struct update syntax.
    pub const ZERO: Self = Self {
        memory: [0.0; 2],
        compute: [0.0; 2],
        sampling: [0.0; 2],
        layers: 1.0,
        decode: [0.0; 2],
        unevenness: 0.05,
        prefill: [0.0; 2],
    };
}

// === impl CostModel for Roofline ===

impl CostModel for Roofline {
    fn step_ms(&self, batch: &Batch) -> f64 {
        let n = batch.tokens() as f64;
        let line = |[constant, slope]: [f64; 2], x: f64| constant + slope * x;
        let linear = line(self.memory, n).max(line(self.compute, n));
        let sampling = line(self.sampling, f64::from(batch.sequences));
        let decode = if batch.decodes > 0 {
            let sum = batch.decode_context as f64;
            let padded = f64::from(batch.decodes) * f64::from(batch.decode_context_max);
            line(self.decode, sum + self.unevenness * (padded - sum).max(0.0))
        } else {
            0.0
        };
        let prefill: f64 = batch
            .chunks
            .iter()
            .map(|chunk| {
                let (p, kv) = (f64::from(chunk.tokens), f64::from(chunk.history));
                line(self.prefill, p * (kv + p / 2.0))
            })
            .sum();
        linear + sampling + self.layers * (decode + prefill)
    }
}
