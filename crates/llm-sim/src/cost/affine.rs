//! The reference's cost of a step: affine in sequences and prompt tokens.

use super::{Batch, Chunk, CostModel};

/// `step + per_sequence · sequences + prefill · prompt tokens`, in milliseconds.
///
/// Its limits are the laws of queueing theory: with `per_sequence` alone it is processor sharing,
/// with `step` alone an infinite-server station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// Milliseconds a step.
    pub step_ms: f64,
    /// Milliseconds a sequence in the step.
    pub per_sequence_ms: f64,
    /// Milliseconds a prompt token computed in the step.
    pub prefill_ms_per_token: f64,
}

impl Affine {
    /// The reference accelerator: 6 ms + 0.25 ms a sequence + 0.05 ms a prompt token.
    pub const SEED: Self = Self::new(6.0, 0.25, 0.05);

    /// A model from its three coefficients, in milliseconds.
    #[must_use]
    pub const fn new(step_ms: f64, per_sequence_ms: f64, prefill_ms_per_token: f64) -> Self {
        Self {
            step_ms,
            per_sequence_ms,
            prefill_ms_per_token,
        }
    }
}

// === impl CostModel for Affine ===

impl CostModel for Affine {
    fn step_ms(&self, batch: &Batch) -> f64 {
        self.step_ms
            + self.per_sequence_ms * f64::from(batch.sequences)
            + self.prefill_ms(&batch.chunks)
    }

    fn prefill_ms(&self, chunks: &[Chunk]) -> f64 {
        let tokens: u64 = chunks.iter().map(|chunk| u64::from(chunk.tokens)).sum();
        self.prefill_ms_per_token * tokens as f64
    }
}
