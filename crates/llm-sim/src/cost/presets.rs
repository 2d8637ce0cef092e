//! Accelerators and models, each with where its figures come from.

use super::{Affine, Batch, Chunk, CostModel, Roofline};
use crate::server::{Continuous, Server, Vllm, VllmConfig};

/// A model on an accelerator.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// How the command line calls it.
    pub name: &'static str,
    /// Accelerator, model, parallelism.
    pub title: &'static str,
    /// Where the coefficients come from.
    pub source: &'static str,
    /// The time of a step.
    pub cost: Cost,
    /// Tokens that fit in the KV cache.
    pub kv_tokens: u32,
    /// Seats: sequences a step.
    pub max_sequences: u32,
    /// Token budget a step.
    pub max_tokens: u32,
    /// Whether a request is one step: no prompt to compute, one result.
    pub one_step: bool,
}

impl Preset {
    /// KV blocks of 16 tokens.
    #[must_use]
    pub const fn kv_blocks(&self) -> u32 {
        self.kv_tokens / 16
    }

    /// Whether the cost knows only sequences and prompt tokens, and no memory: such a preset is
    /// meant for plain continuous batching.
    #[must_use]
    pub const fn is_stepwise(&self) -> bool {
        matches!(self.cost, Cost::Affine(_))
    }
}

impl Preset {
    /// The server that the preset is meant for, in its own number of seats unless another is given:
    /// plain continuous batching where the cost is [stepwise](Self::is_stepwise), vLLM's scheduler
    /// elsewhere. It reports every token.
    #[must_use]
    pub fn server(&self, seats: Option<u32>) -> Box<dyn Server> {
        let seats = seats.unwrap_or(self.max_sequences);
        if self.is_stepwise() {
            return Box::new(Continuous::new(seats, self.cost).report_tokens());
        }
        let config = VllmConfig::default()
            .max_sequences(seats)
            .max_tokens(self.max_tokens)
            .kv_blocks(self.kv_blocks());
        Box::new(Vllm::new(config, self.cost).report_tokens())
    }
}

/// The cost model of a preset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// Affine in sequences and prompt tokens.
    Affine(Affine),
    /// A transformer's coefficients.
    Roofline(Roofline),
}

// === impl CostModel for Cost ===

impl CostModel for Cost {
    fn step_ms(&self, batch: &Batch) -> f64 {
        match self {
            Self::Affine(cost) => cost.step_ms(batch),
            Self::Roofline(cost) => cost.step_ms(batch),
        }
    }

    fn prefill_ms(&self, chunks: &[Chunk]) -> f64 {
        match self {
            Self::Affine(cost) => cost.prefill_ms(chunks),
            Self::Roofline(cost) => cost.prefill_ms(chunks),
        }
    }
}

/// KV bytes a token: keys and values of every layer.
const fn kv_bytes(layers: u64, kv_heads: u64, head: u64, bytes: u64) -> u64 {
    2 * layers * kv_heads * head * bytes
}

/// Milliseconds a context token: its KV bytes over the bandwidth reached.
const fn context_ms(kv_bytes: u64, accelerators: u64, gigabytes_a_second: f64) -> f64 {
    kv_bytes as f64 / (accelerators as f64 * gigabytes_a_second * 1e6)
}

const LLAMA_2_7B: u64 = kv_bytes(32, 32, 128, 2);
const LLAMA_3_8B: u64 = kv_bytes(32, 8, 128, 2);
const LLAMA_70B: u64 = kv_bytes(80, 8, 128, 2);

/// Three quarters of the peak bandwidth of an A100 80 GB (2,039 GB/s).
const A100: f64 = 0.75 * 2039.0;
/// Three quarters of the peak bandwidth of an H100 SXM (3,350 GB/s).
const H100: f64 = 0.75 * 3350.0;

/// KV tokens: 90 % of the memory, less weights and 2 GB an accelerator, over the bytes a token.
const fn kv_tokens(accelerators: u64, weights_gb: u64, kv_bytes: u64) -> u32 {
    let free = accelerators * 80 * 9 / 10 - accelerators * 2 - weights_gb;
    (free * 1_000_000_000 / kv_bytes) as u32
}

const VIDUR: &str = "linear layers fitted to Vidur's operator tables (microsoft/vidur, MIT); context from KV bytes at 75 % of peak bandwidth";

/// A preset whose linear layers are flat, then proportional to tokens.
const fn vidur(base: f64, per_sequence: f64, per_prompt_token: f64, context: f64) -> Cost {
    Cost::Roofline(Roofline {
        memory: [base, per_sequence],
        compute: [0.0, per_prompt_token],
        decode: [0.0, context],
        ..Roofline::ZERO
    })
}

/// Every preset.
pub const ALL: &[Preset] = &[
    Preset {
        name: "forward",
        title: "one batched forward a request, 6 + 1.2·b ms",
        source: "the batching curve of the latency budget",
        cost: Cost::Affine(Affine::new(6.0, 1.2, 0.0)),
        kv_tokens: 1 << 20,
        max_sequences: 32,
        max_tokens: 1 << 16,
        one_step: true,
    },
    Preset {
        name: "seed",
        title: "the reference accelerator",
        source: "the reference's published simulation",
        cost: Cost::Affine(Affine::SEED),
        kv_tokens: 1 << 20,
        max_sequences: 32,
        max_tokens: 1 << 16,
        one_step: false,
    },
    Preset {
        name: "rtx4090-llama-3.1-8b",
        title: "RTX 4090, Llama-3.1-8B bf16",
        source: "fitted to LLMServingSim's operator tables (casys-kaist, MIT); KV blocks of its vLLM run",
        cost: Cost::Roofline(Roofline {
            memory: [17.1, 0.0],
            compute: [0.0, 0.0877],
            sampling: [0.0, 0.0347],
            layers: 1.0,
            decode: [0.0, 1.437e-4],
            prefill: [0.0, 4.75e-6],
            unevenness: 0.05,
        }),
        kv_tokens: 41_392,
        max_sequences: 256,
        max_tokens: 2048,
        one_step: false,
    },
    Preset {
        name: "a100-llama-2-7b",
        title: "A100 80 GB, Llama-2-7B",
        source: VIDUR,
        cost: vidur(9.12, 0.0118, 0.0648, context_ms(LLAMA_2_7B, 1, A100)),
        kv_tokens: kv_tokens(1, 14, LLAMA_2_7B),
        max_sequences: 256,
        max_tokens: 2048,
        one_step: false,
    },
    Preset {
        name: "a100-llama-3-8b",
        title: "A100 80 GB, Llama-3-8B",
        source: VIDUR,
        cost: vidur(9.85, 0.0225, 0.0683, context_ms(LLAMA_3_8B, 1, A100)),
        kv_tokens: kv_tokens(1, 16, LLAMA_3_8B),
        max_sequences: 256,
        max_tokens: 2048,
        one_step: false,
    },
    Preset {
        name: "a100-llama-3-70b-tp4",
        title: "4 × A100 80 GB, Llama-3-70B",
        source: VIDUR,
        cost: vidur(25.33, 0.0319, 0.164, context_ms(LLAMA_70B, 4, A100)),
        kv_tokens: kv_tokens(4, 141, LLAMA_70B),
        max_sequences: 256,
        max_tokens: 2048,
        one_step: false,
    },
    Preset {
        name: "a100-llama-3-70b-tp8",
        title: "8 × A100 80 GB, Llama-3-70B",
        source: VIDUR,
        cost: vidur(14.43, 0.0210, 0.0904, context_ms(LLAMA_70B, 8, A100)),
        kv_tokens: kv_tokens(8, 141, LLAMA_70B),
        max_sequences: 256,
        max_tokens: 2048,
        one_step: false,
    },
    Preset {
        name: "h100-llama-2-7b",
        title: "H100 80 GB, Llama-2-7B",
        source: VIDUR,
        cost: vidur(5.58, 0.0071, 0.0197, context_ms(LLAMA_2_7B, 1, H100)),
        kv_tokens: kv_tokens(1, 14, LLAMA_2_7B),
        max_sequences: 1024,
        max_tokens: 8192,
        one_step: false,
    },
    Preset {
        name: "h100-llama-2-70b-tp4",
        title: "4 × H100 80 GB, Llama-2-70B",
        source: VIDUR,
        cost: vidur(14.75, 0.0101, 0.0513, context_ms(LLAMA_70B, 4, H100)),
        kv_tokens: kv_tokens(4, 141, LLAMA_70B),
        max_sequences: 1024,
        max_tokens: 8192,
        one_step: false,
    },
    Preset {
        name: "a100-opt-13b",
        title: "A100 80 GB, OPT-13B on vLLM",
        source: "DistServe's profile of vLLM (LLMServe/DistServe, Apache-2.0)",
        cost: Cost::Roofline(Roofline {
            memory: [23.48, 0.0],
            compute: [22.05, 0.1405],
            sampling: [0.0, 0.0607],
            decode: [0.0, 5.93e-4],
            prefill: [0.0, 2.0 * 8.1e-6],
            unevenness: 0.0,
            layers: 1.0,
        }),
        kv_tokens: 66_144,
        max_sequences: 256,
        max_tokens: 2048,
        one_step: false,
    },
    Preset {
        name: "a100-llama-2-70b-tp8",
        title: "8 × A100 80 GB, Llama-2-70B",
        source: "fitted to Splitwise's measurements (Mutinifni/splitwise-sim, MIT)",
        cost: Cost::Roofline(Roofline {
            memory: [44.5, 0.0],
            compute: [36.0, 0.133],
            sampling: [0.0, 0.286],
            ..Roofline::ZERO
        }),
        kv_tokens: kv_tokens(8, 141, LLAMA_70B),
        max_sequences: 256,
        max_tokens: 2048,
        one_step: false,
    },
    Preset {
        name: "h100-llama-2-70b-tp8",
        title: "8 × H100 80 GB, Llama-2-70B",
        source: "fitted to Splitwise's measurements (Mutinifni/splitwise-sim, MIT)",
        cost: Cost::Roofline(Roofline {
            memory: [30.0, 0.0],
            compute: [32.0, 0.062],
            sampling: [0.0, 0.273],
            ..Roofline::ZERO
        }),
        kv_tokens: kv_tokens(8, 141, LLAMA_70B),
        max_sequences: 1024,
        max_tokens: 8192,
        one_step: false,
    },
];

/// The preset of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.name == name)
}
