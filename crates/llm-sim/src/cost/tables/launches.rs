//! What CUDA graphs change.

use crate::cost::Batch;

/// Microseconds a launch that a graph of the whole step saves, against kernels launched one by one;
/// and those of graphs of the pieces between attention, as vLLM uses where prompts are in the step.
///
/// From LLMServingSim's profiler: 587 and 482 µs a step of 324 launches (Llama-3.1-8B on an RTX PRO
/// 6000, vLLM); the saving follows the number of launches, not the batch, on other models too.
const WHOLE_US: f64 = 1.81;
const PIECES_US: f64 = 1.49;

/// The captured graphs.
#[derive(Clone, Debug, Default)]
pub(super) struct Graphs {
    /// Token counts, ascending; empty where nothing is captured.
    sizes: Vec<u32>,
}

impl Graphs {
    pub(super) fn new(mut sizes: Vec<u32>) -> Self {
        sizes.sort_unstable();
        Self { sizes }
    }

    /// The size of the graph that a step of so many tokens replays.
    fn size(&self, tokens: u64) -> Option<u32> {
        let at = self.sizes.partition_point(|size| u64::from(*size) < tokens);
        self.sizes.get(at).copied()
    }

    /// The tokens that the linear layers see: padded to the captured size.
    pub(super) fn padded(&self, tokens: u64) -> f64 {
        self.size(tokens).map_or(tokens as f64, f64::from)
    }

    /// What each launch of the step saves, in microseconds.
    pub(super) fn saved_us(&self, batch: &Batch) -> f64 {
        match self.size(batch.tokens()) {
            None => 0.0,
            Some(_) if batch.chunks.is_empty() => WHOLE_US,
            Some(_) => PIECES_US,
        }
    }
}
