//! `y = x Wᵀ + b`, the product in 8-bit integers.
//!
//! The weights of an output have one scale, found when they are loaded; the inputs of a token have a
//! scale and a zero of their own, found as they come. So what becomes of a token does not depend on
//! those beside it. Products are summed up in 32-bit integers, exactly.

use std::cell::LazyCell;

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::SimdOp;
use rten_tensor::{Matrix, NdTensorView};
use rten_vecmath::{ExtendInit, MinMax, Quantize};
use tower::BoxError;

use super::linear::Onto;
use super::scale::{Row, Scale};

/// Steps between a token's least input and its largest.
const LEVELS: f32 = 255.0;

/// A dense layer with weights of 8 bits.
pub(super) struct Int8 {
    weight: PackedBMatrix<i8>,
    /// What one step of each output's weights is worth.
    steps: Vec<f32>,
    /// The sum of each output's weights: so much too much for each step that zero lies above the least
    /// input. (The product could see to that by itself; `rten-gemm` 0.27 takes the zeros of the first
    /// eight rows for those of all.)
    totals: Vec<i32>,
    bias: Vec<f32>,
}

/// What the products of one batch have for themselves.
pub(super) struct Work {
    /// Made anew for each batch that needs it: a choice of instructions cannot move to another thread.
    gemm: LazyCell<Gemm>,
    input: Vec<u8>,
    rows: Vec<Row>,
    sums: Vec<i32>,
}

type Gemm = GemmExecutor<u8, i8, i32>;

/// The largest weight, in steps; the least is its opposite, so that zero is zero. Without VNNI, x86 adds
/// up two products in 16 bits, which is enough for weights of seven.
pub(in crate::minilm) fn largest() -> i8 {
    if Gemm::new().may_saturate() { 64 } else { 127 }
}

// === impl Int8 ===

impl Int8 {
    /// `weight` has one row of `inputs` numbers for each number of `bias`.
    pub(super) fn new(weight: &[f32], bias: Vec<f32>, inputs: usize) -> Result<Self, BoxError> {
        let at_most = f32::from(largest());
        let mut numbers = Vec::with_capacity(weight.len());
        let mut steps = Vec::with_capacity(bias.len());
        let mut totals = Vec::with_capacity(bias.len());
        for row in weight.chunks_exact(inputs) {
            let most = row.iter().fold(0.0_f32, |most, x| x.abs().max(most));
            let step = (most / at_most).max(f32::MIN_POSITIVE);
            let row = row.iter().map(|x| (x / step).round_ties_even() as i8);
            totals.push(row.clone().map(i32::from).sum());
            numbers.extend(row);
            steps.push(step);
        }
        let (shape, strides) = ([inputs, bias.len()], [1, inputs]);
        let transposed = NdTensorView::from_slice_with_strides(shape, &numbers, strides)?;
        Ok(Self {
            weight: Gemm::new().prepack_b(transposed),
            steps,
            totals,
            bias,
        })
    }

    /// `input` and `out` hold one row for each token.
    pub(super) fn apply(
        &self,
        work: &mut Work,
        input: &[f32],
        out: &mut [f32],
        onto: Onto,
    ) -> Result<(), BoxError> {
        let inputs = self.weight.rows();
        work.quantise(input, inputs);
        work.sums.resize(out.len(), 0);
        let rows = Matrix::from_data([work.rows.len(), inputs], &*work.input);
        work.gemm.gemm(
            &mut work.sums,
            GemmInputA::Unpacked(rows),
            GemmInputB::Packed(&self.weight),
            GemmOptions::default(),
        )?;
        let scale = Scale {
            sums: &work.sums,
            rows: &work.rows,
            steps: &self.steps,
            totals: &self.totals,
            bias: &self.bias,
            out,
            onto,
        };
        scale.dispatch();
        Ok(())
    }
}

// === impl Work ===

impl Work {
    pub(super) fn new() -> Self {
        Self {
            gemm: LazyCell::new(Gemm::new),
            input: Vec::new(),
            rows: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Each row of numbers to the integers nearest to it, between its least number and its largest.
    fn quantise(&mut self, input: &[f32], inputs: usize) {
        self.input.clear();
        self.rows.clear();
        self.input.reserve(input.len());
        for row in input.chunks_exact(inputs) {
            let (least, most) = MinMax::new(row).dispatch();
            let (least, most) = (least.min(0.0), most.max(0.0));
            let step = ((most - least) / LEVELS).max(f32::MIN_POSITIVE);
            let zero = (-least / step).round_ties_even() as u8;
            self.rows.push(Row {
                step,
                zero: i32::from(zero),
            });
            self.input.extend_init(|room| {
                let room = room.get_mut(..row.len()).unwrap_or_default();
                &*Quantize::new(row, room, step.recip(), zero).dispatch()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_errs_by_less_than_the_steps_of_its_factors_allow() {
        let (inputs, outputs, tokens) = (70, 50, 19);
        let numbers = |count: usize, most: f32| -> Vec<f32> {
            let each = (0..count).map(|at| (at * 37 % 101) as f32 / 50.0 - 1.0);
            each.map(|x| x * most).collect()
        };
        let (weight, bias) = (numbers(inputs * outputs, 0.1), numbers(outputs, 1.0));
        let mut input = numbers(inputs * tokens, 3.0);
        // Each token has a range of its own,
        for (token, row) in input.chunks_exact_mut(inputs).enumerate() {
            row.iter_mut()
                .for_each(|x| *x = *x * 0.2 * token as f32 + token as f32 / 3.0);
        }
        // a token of nothing none, and a token of one number hardly one.
        input[..inputs].fill(0.0);
        input[inputs..2 * inputs].fill(2.0);
        let before = numbers(outputs * tokens, 5.0);
        let layer = Int8::new(&weight, bias.clone(), inputs).expect("a layer");
        for onto in [Onto::Fresh, Onto::Sum] {
            let mut out = before.clone();
            layer
                .apply(&mut Work::new(), &input, &mut out, onto)
                .expect("a product");
            for (at, found) in out.iter().enumerate() {
                let (token, output) = (at / outputs, at % outputs);
                let x = &input[token * inputs..][..inputs];
                let w = &weight[output * inputs..][..inputs];
                let sum: f32 = x.iter().zip(w).map(|(x, w)| x * w).sum();
                let old = if let Onto::Sum = onto {
                    before[at]
                } else {
                    0.0
                };
                let expected = sum + bias[output] + old;
                // A step of either factor, times the other; the errors of many inputs even out.
                let (least, most) = x.iter().fold((0.0_f32, 0.0_f32), |(least, most), x| {
                    (least.min(*x), most.max(*x))
                });
                let step = (most - least) / LEVELS;
                let allowed = (inputs as f32).sqrt()
                    * (step * 0.1 + 0.1 / f32::from(largest()) * most.max(-least));
                assert!(
                    (found - expected).abs() <= allowed + 1e-4,
                    "{found} {expected}"
                );
            }
        }
    }
}
