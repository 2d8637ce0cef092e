//! Layer normalisation: each row to mean 0 and variance 1, then scaled and shifted.

use rten_simd::SimdOp;
use rten_vecmath::{Normalize, NormalizeOptions, Sum, SumSquareSub};

pub(super) struct LayerNorm {
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) epsilon: f32,
}

// === impl LayerNorm ===

impl LayerNorm {
    pub(super) fn apply(&self, rows: &mut [f32]) {
        let Self {
            weight,
            bias,
            epsilon,
        } = self;
        let length = weight.len() as f32;
        for row in rows.chunks_exact_mut(weight.len()) {
            let mean = Sum::new(row).dispatch() / length;
            let variance = SumSquareSub::new(row, mean).dispatch() / length;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: (variance + epsilon).sqrt().recip(),
                element_scale: Some(weight),
                bias: 0.0,
                element_bias: Some(bias),
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}
