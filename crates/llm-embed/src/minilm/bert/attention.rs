//! Each token of a text looks at all tokens of the same text.

use std::ops::Range;

use rten_simd::SimdOp;
use tower::BoxError;

use super::dense::Dense;
use super::heads::Heads;
use super::linear::Onto;
use super::work::Work;

/// Self-attention with several heads, and the sum with its input.
pub(super) struct Attention {
    pub(super) heads: usize,
    /// Queries, keys and values in one product: three times as wide as a token. The queries are
    /// scaled already: `1/√d` lies in their weights.
    pub(super) project: Dense,
    pub(super) output: Dense,
}

/// The parts of a batch in which texts lie, in tokens.
pub(super) type Spans = [Range<usize>];

// === impl Attention ===

impl Attention {
    /// Adds to each token of `hidden`, `width` numbers each, what its text has to say to it.
    pub(super) fn apply(
        &self,
        work: &mut Work,
        hidden: &mut [f32],
        width: usize,
        spans: &Spans,
    ) -> Result<(), BoxError> {
        let Work {
            threads,
            int8,
            wide,
            narrow,
            heads,
        } = work;
        let projected = wide.of(3 * hidden.len());
        let context = narrow.of(hidden.len());
        self.project
            .apply(*threads, int8, hidden, projected, Onto::Fresh)?;
        for Range { start, end } in spans.iter().cloned() {
            let of = |numbers: usize| start * numbers..end * numbers;
            let (Some(projected), Some(context)) =
                (projected.get(of(3 * width)), context.get_mut(of(width)))
            else {
                return Err("a text lies outside of its batch".into());
            };
            let heads = Heads {
                count: self.heads,
                width,
                projected,
                context,
                space: heads,
            };
            heads.dispatch();
        }
        self.output
            .apply(*threads, int8, context, hidden, Onto::Sum)
    }
}
