//! The settings of a vLLM server.

use crate::server::Order;

/// When the next step is planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pipeline {
    /// After the results of the last one: `--no-async-scheduling`.
    Synchronous,
    /// While the last one runs, as vLLM does by default: an arrival waits for the running and the
    /// planned step, and the host's work is hidden.
    #[default]
    Asynchronous,
}

/// How the server learns that a sequence ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// It knows the number of tokens (`max_tokens`).
    #[default]
    AtLimit,
    /// From an end-of-sequence token: with a pipeline, one more step has been planned by then.
    EndOfSequence,
}

/// Whether prompts and decoding share a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mixing {
    /// They do (vLLM).
    #[default]
    Mixed,
    /// They do not: while prompts can be computed, decoding waits (SGLang's default).
    PrefillFirst,
}

/// The settings of a vLLM server.
#[derive(Clone, Copy, Debug)]
pub struct VllmConfig {
    pub(super) max_sequences: usize,
    pub(super) max_tokens: u32,
    pub(super) chunk_tokens: u32,
    pub(super) kv_blocks: u32,
    pub(super) block_size: u32,
    pub(super) prefix_caching: bool,
    pub(super) reserve_prompt: bool,
    pub(super) pause_admission: bool,
    pub(super) order: Order,
    pub(super) pipeline: Pipeline,
    pub(super) stop: Stop,
    pub(super) mixing: Mixing,
}

impl Default for VllmConfig {
    /// A small GPU: 256 seats, 2,048 tokens a step, and memory without end.
    fn default() -> Self {
        Self {
            max_sequences: 256,
            max_tokens: 2048,
            chunk_tokens: u32::MAX,
            kv_blocks: 1 << 20,
            block_size: 16,
            prefix_caching: true,
            reserve_prompt: true,
            pause_admission: true,
            order: Order::Fcfs,
            pipeline: Pipeline::Asynchronous,
            stop: Stop::AtLimit,
            mixing: Mixing::Mixed,
        }
    }
}

impl VllmConfig {
    /// A large GPU: 1,024 seats, 8,192 tokens a step.
    #[must_use]
    pub fn large() -> Self {
        Self {
            max_sequences: 1024,
            max_tokens: 8192,
            ..Self::default()
        }
    }

    /// A scheduler in the manner of SGLang: the longest cached prefix first, prompts before
    /// decoding, 8,192 prompt tokens a step.
    #[must_use]
    pub fn sglang() -> Self {
        Self {
            max_tokens: 8192,
            order: Order::LongestPrefix,
            mixing: Mixing::PrefillFirst,
            ..Self::default()
        }
    }

    /// Sets whether prompts and decoding share a step.
    #[must_use]
    pub const fn mixing(mut self, mixing: Mixing) -> Self {
        self.mixing = mixing;
        self
    }

    /// Sets the seats, `--max-num-seqs`.
    #[must_use]
    pub fn max_sequences(mut self, sequences: u32) -> Self {
        self.max_sequences = sequences.max(1) as usize;
        self
    }

    /// Sets the token budget of a step, `--max-num-batched-tokens`.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = tokens.max(1);
        self
    }

    /// Bounds the prompt tokens of one sequence in one step, `--long-prefill-token-threshold`.
    #[must_use]
    pub fn chunk_tokens(mut self, tokens: u32) -> Self {
        self.chunk_tokens = tokens.max(1);
        self
    }

    /// Sets the KV memory, in blocks.
    #[must_use]
    pub const fn kv_blocks(mut self, blocks: u32) -> Self {
        self.kv_blocks = blocks;
        self
    }

    /// Sets the size of a block, in tokens.
    #[must_use]
    pub fn block_size(mut self, tokens: u32) -> Self {
        self.block_size = tokens.max(1);
        self
    }

    /// Turns the prefix cache off.
    #[must_use]
    pub const fn without_prefix_caching(mut self) -> Self {
        self.prefix_caching = false;
        self
    }

    /// Admits a sequence when its first chunk fits, not only when its whole prompt does.
    #[must_use]
    pub const fn without_prompt_reservation(mut self) -> Self {
        self.reserve_prompt = false;
        self
    }

    /// Admits in a step that preempts as well, not only in one that does not: the preempted sequence
    /// is first in the queue, and may take back what it just gave up.
    #[must_use]
    pub const fn without_admission_pause(mut self) -> Self {
        self.pause_admission = false;
        self
    }

    /// Sets the order of admission.
    #[must_use]
    pub const fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sets when steps are planned.
    #[must_use]
    pub const fn pipeline(mut self, pipeline: Pipeline) -> Self {
        self.pipeline = pipeline;
        self
    }

    /// Sets how ends are learned.
    #[must_use]
    pub const fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }
}
