//! `y = x Wᵀ + b`.

use rten_gemm::{
    BiasVector, GemmExecutor, GemmInputA, GemmInputB, GemmOptions, GemmResult, PackedBMatrix,
};
use rten_tensor::{Matrix, NdTensorView, errors::FromDataError};

use tower::BoxError;

/// Multiplies matrices, with the widest instructions that the processor has.
pub(super) type Gemm = GemmExecutor<f32>;

/// A dense layer whose weights lie in the order in which the product reads them.
pub(super) struct Linear {
    weight: PackedBMatrix<f32>,
    bias: Vec<f32>,
}

/// What becomes of the values that are already in the output.
#[derive(Clone, Copy)]
pub(super) enum Onto {
    /// They are overwritten.
    Fresh,
    /// The product is added to them.
    Sum,
}

// === impl Linear ===

impl Linear {
    /// `weight` has one row of `inputs` numbers for each number of `bias`.
    pub(super) fn new(
        gemm: &Gemm,
        weight: &[f32],
        bias: Vec<f32>,
        inputs: usize,
    ) -> Result<Self, BoxError> {
        let transposed = strided(weight, [inputs, bias.len()], [1, inputs])?;
        Ok(Self {
            weight: gemm.prepack_b(transposed),
            bias,
        })
    }

    /// `input` and `out` hold one row for each token.
    pub(super) fn apply(
        &self,
        gemm: &Gemm,
        input: &[f32],
        out: &mut [f32],
        onto: Onto,
    ) -> GemmResult {
        let inputs = self.weight.rows();
        let rows = input.len() / inputs;
        let options = GemmOptions {
            beta: match onto {
                Onto::Fresh => 0.0,
                Onto::Sum => 1.0,
            },
            bias: Some(BiasVector::Row(&self.bias)),
            ..GemmOptions::default()
        };
        gemm.gemm(
            out,
            GemmInputA::Unpacked(Matrix::from_data([rows, inputs], input)),
            GemmInputB::Packed(&self.weight),
            options,
        )
    }
}

/// A matrix inside of a slice: its shape, and how far apart its rows and its columns lie.
pub(super) fn strided(
    data: &[f32],
    shape: [usize; 2],
    strides: [usize; 2],
) -> Result<NdTensorView<'_, f32, 2>, FromDataError> {
    NdTensorView::from_slice_with_strides(shape, data, strides)
}
