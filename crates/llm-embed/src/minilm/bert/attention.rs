//! Each token of a text looks at all tokens of the same text.

use std::ops::Range;

use rten_gemm::{GemmInputA, GemmInputB, GemmOptions};
use rten_simd::SimdOp;
use rten_tensor::Matrix;
use rten_vecmath::Softmax;
use tower::BoxError;

use super::linear::{Gemm, Linear, Onto, strided};

/// Self-attention with several heads, and the sum with its input.
pub(super) struct Attention {
    pub(super) heads: usize,
    /// Queries, keys and values in one product: three times as wide as a token.
    pub(super) project: Linear,
    pub(super) output: Linear,
}

/// The parts of a batch in which texts lie, in tokens.
pub(super) type Spans = [Range<usize>];

// === impl Attention ===

impl Attention {
    /// Adds to each token of `hidden`, `width` numbers each, what its text has to say to it.
    pub(super) fn apply(
        &self,
        gemm: &Gemm,
        hidden: &mut [f32],
        width: usize,
        spans: &Spans,
    ) -> Result<(), BoxError> {
        let mut projected = vec![0.0; 3 * hidden.len()];
        self.project
            .apply(gemm, hidden, &mut projected, Onto::Fresh)?;
        let mut context = vec![0.0; hidden.len()];
        for Range { start, end } in spans.iter().cloned() {
            let of = |numbers: usize| start * numbers..end * numbers;
            let (Some(projected), Some(context)) =
                (projected.get(of(3 * width)), context.get_mut(of(width)))
            else {
                return Err("a text lies outside of its batch".into());
            };
            self.attend(gemm, projected, context, width)?;
        }
        self.output.apply(gemm, &context, hidden, Onto::Sum)?;
        Ok(())
    }

    /// One text: `softmax(Q Kᵀ / √d) V`, a head at a time.
    fn attend(
        &self,
        gemm: &Gemm,
        projected: &[f32],
        context: &mut [f32],
        width: usize,
    ) -> Result<(), BoxError> {
        let tokens = context.len() / width;
        let depth = width / self.heads;
        let scale = (depth as f32).sqrt().recip();
        let mut scores = vec![0.0; tokens * tokens];
        let mut seen = vec![0.0; tokens * depth];
        for head in 0..self.heads {
            let part = |number: usize| {
                let from = number * width + head * depth;
                projected.get(from..).unwrap_or_default()
            };
            let stride = 3 * width;
            let query = strided(part(0), [tokens, depth], [stride, 1])?;
            let key = strided(part(1), [depth, tokens], [1, stride])?;
            let value = strided(part(2), [tokens, depth], [stride, 1])?;
            let options = GemmOptions {
                alpha: scale,
                ..GemmOptions::default()
            };
            let (a, b) = (GemmInputA::Unpacked(query), GemmInputB::Unpacked(key));
            gemm.gemm(&mut scores, a, b, options)?;
            for row in scores.chunks_exact_mut(tokens) {
                Softmax::new_mut(row).dispatch();
            }
            let weights = Matrix::from_data([tokens, tokens], &*scores);
            let (a, b) = (GemmInputA::Unpacked(weights), GemmInputB::Unpacked(value));
            gemm.gemm(&mut seen, a, b, GemmOptions::default())?;
            let rows = context.chunks_exact_mut(width);
            for (row, seen) in rows.zip(seen.chunks_exact(depth)) {
                if let Some(place) = row.get_mut(head * depth..(head + 1) * depth) {
                    place.copy_from_slice(seen);
                }
            }
        }
        Ok(())
    }
}
