//! The tensors of a `safetensors` file, by name.

use safetensors::{Dtype, SafeTensors};

use tower::BoxError;

use super::norm::LayerNorm;

/// Named tensors of 32-bit floating-point numbers.
pub(super) struct Weights<'a> {
    tensors: SafeTensors<'a>,
}

// === impl Weights ===

impl<'a> Weights<'a> {
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, BoxError> {
        let tensors = SafeTensors::deserialize(file)?;
        Ok(Self { tensors })
    }

    /// The tensor of this name, row by row, which must have this shape.
    pub(super) fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, BoxError> {
        let tensor = self.tensors.tensor(name)?;
        if tensor.dtype() != Dtype::F32 {
            let found = tensor.dtype();
            return Err(format!("`{name}` is of type {found:?}, not F32").into());
        }
        if tensor.shape() != shape {
            let found = tensor.shape();
            return Err(format!("`{name}` has the shape {found:?}, not {shape:?}").into());
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        Ok(numbers.iter().copied().map(f32::from_le_bytes).collect())
    }

    /// The layer normalisation of this name.
    pub(super) fn norm(
        &self,
        name: &str,
        width: usize,
        epsilon: f32,
    ) -> Result<LayerNorm, BoxError> {
        Ok(LayerNorm {
            weight: self.get(&format!("{name}.weight"), &[width])?,
            bias: self.get(&format!("{name}.bias"), &[width])?,
            epsilon,
        })
    }
}
