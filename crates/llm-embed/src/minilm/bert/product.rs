//! `Y = X Wᵀ + b`, with the widest instructions that the processor has.
//!
//! Eight rows of results by one panel of outputs stay in registers while all inputs go by, so that a
//! weight is read once for eight tokens and a result is written once. What a text of a few tokens
//! waits for is the weights: they come from far away, and are asked for one panel ahead.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};

use super::linear::Onto;
use super::panels::{Panels, VECTORS};

/// The product of some rows with some panels of a matrix of weights.
pub(super) struct Product<'a> {
    pub(super) weight: &'a Panels,
    /// The first panel.
    pub(super) panel: usize,
    /// One number an output, which says how many outputs there are.
    pub(super) bias: &'a [f32],
    /// One row of inputs a token.
    pub(super) input: &'a [f32],
    /// One row of outputs a token.
    pub(super) out: &'a mut [f32],
    pub(super) onto: Onto,
}

/// Results that are computed together.
struct Tile<'a> {
    weight: &'a [f32],
    next: &'a [f32],
    bias: &'a [f32],
    input: &'a [f32],
    inputs: usize,
    out: &'a mut [f32],
    outputs: usize,
    onto: Onto,
}

/// The most rows of a tile.
const ROWS: usize = 8;

/// The same where there are but sixteen registers.
const FEW_ROWS: usize = 4;

/// The most lanes that a vector has.
const LANES: usize = 16;

// === impl Product ===

impl SimdOp for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (inputs, width) = (self.weight.inputs(), self.weight.width());
        let outputs = self.bias.len();
        let tokens = self.out.len() / outputs.max(1);
        let lanes = isa.f32().len();
        let step = if lanes == LANES { ROWS } else { FEW_ROWS };
        for (number, bias) in self.bias.chunks(width).enumerate() {
            let weight = self.weight.from(self.panel + number);
            let ahead = self.weight.from(self.panel + number + 1);
            for first in (0..tokens).step_by(step) {
                let rows = step.min(tokens - first);
                let last = first + rows == tokens;
                let tile = Tile {
                    weight,
                    next: if last { ahead } else { weight },
                    bias,
                    input: self.input.get(first * inputs..).unwrap_or_default(),
                    inputs,
                    out: self
                        .out
                        .get_mut(first * outputs + number * width..)
                        .unwrap_or_default(),
                    outputs,
                    onto: self.onto,
                };
                match rows {
                    1 => tile.compute::<I, 1>(isa),
                    2 => tile.compute::<I, 2>(isa),
                    3 => tile.compute::<I, 3>(isa),
                    4 => tile.compute::<I, 4>(isa),
                    5 => tile.compute::<I, 5>(isa),
                    6 => tile.compute::<I, 6>(isa),
                    7 => tile.compute::<I, 7>(isa),
                    _ => tile.compute::<I, ROWS>(isa),
                }
            }
        }
    }
}

// === impl Tile ===

impl Tile<'_> {
    #[inline(always)]
    #[expect(
        clippy::indexing_slicing,
        reason = "arrays of a length known here, and rows cut to the length that is counted to"
    )]
    fn compute<I: Isa, const ROWS: usize>(self, isa: I) {
        let ops = isa.f32();
        let lanes = ops.len();
        let width = VECTORS * lanes;
        let Self { inputs, .. } = self;
        let mut bias = [0.0; VECTORS * LANES];
        bias[..self.bias.len()].copy_from_slice(self.bias);
        let mut sums = [ops.load_many::<VECTORS>(&bias); ROWS];
        let rows: [&[f32]; ROWS] =
            std::array::from_fn(|row| &self.input[row * inputs..(row + 1) * inputs]);
        let weights = self.weight[..inputs * width].chunks_exact(width);
        for (at, weights) in weights.enumerate() {
            let weights = ops.load_many::<VECTORS>(weights);
            let next = self.next.as_ptr().wrapping_add(at * width);
            for vector in 0..VECTORS {
                ops.prefetch(next.wrapping_add(vector * lanes));
            }
            for (sums, row) in sums.iter_mut().zip(rows) {
                let x = ops.splat(row[at]);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = ops.mul_add(x, weights, *sum);
                }
            }
        }
        let used = self.bias.len();
        for (sums, place) in sums.into_iter().zip(self.out.chunks_mut(self.outputs)) {
            if used == width {
                put(isa, sums, &mut place[..width], self.onto);
            } else {
                let mut whole = [0.0; VECTORS * LANES];
                whole[..used].copy_from_slice(&place[..used]);
                put(isa, sums, &mut whole, self.onto);
                place[..used].copy_from_slice(&whole[..used]);
            }
        }
    }
}

#[inline(always)]
fn put<I: Isa>(isa: I, sums: [I::F32; VECTORS], place: &mut [f32], onto: Onto) {
    let ops = isa.f32();
    for (sum, place) in sums.into_iter().zip(place.chunks_exact_mut(ops.len())) {
        let sum = match onto {
            Onto::Fresh => sum,
            Onto::Sum => ops.add(sum, ops.load(place)),
        };
        ops.store(sum, place);
    }
}
