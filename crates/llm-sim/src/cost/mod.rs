//! How long one step of a server takes, given what is in it.
//!
//! A [`CostModel`] is a pure function of a [`Batch`]. It knows nothing of queues or clocks, so the
//! simulator, and anything that replays its steps in real time, can share it.

mod affine;
pub mod presets;
mod roofline;
mod tables;

pub use self::{affine::Affine, presets::Preset, roofline::Roofline, tables::Tables};

/// A part of a prompt computed in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Prompt tokens computed in the step.
    pub tokens: u32,
    /// Tokens of the same sequence that were computed before.
    pub history: u32,
}

/// What one step computes.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Sequences in the step, decoding and prefilling.
    pub sequences: u32,
    /// Sequences that decode one token.
    pub decodes: u32,
    /// Σ of the context lengths of the decoding sequences, in tokens.
    pub decode_context: u64,
    /// The longest context of a decoding sequence, in tokens; 0 where it is not known.
    pub decode_context_max: u32,
    /// The prompt parts.
    pub chunks: Vec<Chunk>,
}

impl Batch {
    /// A step that only decodes.
    #[must_use]
    pub const fn decode(sequences: u32, context: u64) -> Self {
        Self {
            sequences,
            decodes: sequences,
            decode_context: context,
            decode_context_max: 0,
            chunks: Vec::new(),
        }
    }

    /// Prompt tokens in the step.
    #[must_use]
    pub fn prefill_tokens(&self) -> u64 {
        self.chunks
            .iter()
            .map(|chunk| u64::from(chunk.tokens))
            .sum()
    }

    /// All tokens in the step.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        u64::from(self.decodes) + self.prefill_tokens()
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        let mut chunks = std::mem::take(&mut self.chunks);
        chunks.clear();
        *self = Self {
            chunks,
            ..Self::default()
        };
    }
}

/// The time of a step.
pub trait CostModel: std::fmt::Debug + Send {
    /// How long the step takes, in milliseconds; more than 0 for a batch with work in it, unless
    /// the model is a limiting case of theory.
    fn step_ms(&self, batch: &Batch) -> f64;

    /// What the prompt parts alone add to a decoding step, in milliseconds.
    fn prefill_ms(&self, chunks: &[Chunk]) -> f64 {
        let with = Batch {
            chunks: chunks.to_vec(),
            ..Batch::default()
        };
        self.step_ms(&with) - self.step_ms(&Batch::default())
    }
}

impl<C> CostModel for Box<C>
where
    C: CostModel + ?Sized,
{
    fn step_ms(&self, batch: &Batch) -> f64 {
        (**self).step_ms(batch)
    }

    fn prefill_ms(&self, chunks: &[Chunk]) -> f64 {
        (**self).prefill_ms(chunks)
    }
}

impl<C> CostModel for std::sync::Arc<C>
where
    C: CostModel + Sync + ?Sized,
{
    fn step_ms(&self, batch: &Batch) -> f64 {
        (**self).step_ms(batch)
    }

    fn prefill_ms(&self, chunks: &[Chunk]) -> f64 {
        (**self).prefill_ms(chunks)
    }
}
