//! From the integers of a product back to the numbers that they stand for.

use rten_simd::ops::{BitOps, NumOps, ToFloat};
use rten_simd::{Isa, SimdOp};

use super::linear::Onto;

/// `y = (sum - zero · total) · step · step + bias`, of all rows.
pub(super) struct Scale<'a> {
    pub(super) sums: &'a [i32],
    pub(super) rows: &'a [Row],
    /// What one step of a column's weights is worth.
    pub(super) steps: &'a [f32],
    /// The sum of a column's weights, in steps.
    pub(super) totals: &'a [i32],
    /// One number a column.
    pub(super) bias: &'a [f32],
    pub(super) out: &'a mut [f32],
    pub(super) onto: Onto,
}

/// What the integers of a row of inputs stand for.
pub(super) struct Row {
    /// What one step is worth.
    pub(super) step: f32,
    /// The integer that stands for zero.
    pub(super) zero: i32,
}

// === impl Scale ===

impl SimdOp for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (ints, ops) = (isa.i32(), isa.f32());
        let lanes = ops.len();
        let columns = self.steps.len();
        let rows = self.sums.chunks_exact(columns).zip(self.rows);
        for ((sums, Row { step, zero }), out) in rows.zip(self.out.chunks_exact_mut(columns)) {
            let (row, zeros) = (ops.splat(*step), ints.splat(*zero));
            let vectors = sums.chunks_exact(lanes).zip(out.chunks_exact_mut(lanes));
            let steps = self.steps.chunks_exact(lanes);
            let each = steps.zip(self.totals.chunks_exact(lanes));
            let each = each.zip(self.bias.chunks_exact(lanes));
            for ((sums, out), ((steps, totals), bias)) in vectors.zip(each) {
                let to = match self.onto {
                    Onto::Fresh => ops.load(bias),
                    Onto::Sum => ops.add(ops.load(bias), ops.load(out)),
                };
                let sums = ints.sub(ints.load(sums), ints.mul(zeros, ints.load(totals)));
                let scale = ops.mul(row, ops.load(steps));
                ops.store(ops.mul_add(ints.to_float(sums), scale, to), out);
            }
            let rest = columns / lanes * lanes;
            let ends = sums.iter().zip(out.iter_mut()).skip(rest);
            let each = self.steps.iter().zip(self.totals).zip(self.bias).skip(rest);
            for ((sum, out), ((column, total), bias)) in ends.zip(each) {
                let to = match self.onto {
                    Onto::Fresh => *bias,
                    Onto::Sum => bias + *out,
                };
                *out = ((sum - zero * total) as f32).mul_add(step * column, to);
            }
        }
    }
}
