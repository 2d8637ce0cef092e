//! A dense layer, in the precision that was asked for.

use tower::BoxError;

use super::int8::{self, Int8};
use super::linear::{Linear, Onto};
use crate::minilm::Precision;

pub(super) enum Dense {
    Fp32(Linear),
    Int8(Int8),
}

// === impl Dense ===

impl Dense {
    /// `weight` has one row of `inputs` numbers for each number of `bias`.
    pub(super) fn new(
        precision: Precision,
        weight: &[f32],
        bias: Vec<f32>,
        inputs: usize,
    ) -> Result<Self, BoxError> {
        Ok(match precision {
            Precision::Fp32 => Self::Fp32(Linear::new(weight, bias, inputs)),
            Precision::Int8 => Self::Int8(Int8::new(weight, bias, inputs)?),
        })
    }

    /// `input` and `out` hold one row for each token.
    pub(super) fn apply(
        &self,
        threads: usize,
        work: &mut int8::Work,
        input: &[f32],
        out: &mut [f32],
        onto: Onto,
    ) -> Result<(), BoxError> {
        match self {
            Self::Fp32(linear) => {
                linear.apply(threads, input, out, onto);
                Ok(())
            }
            Self::Int8(int8) => int8.apply(work, input, out, onto),
        }
    }
}
