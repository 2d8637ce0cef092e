//! A request: its arrival, its lengths, and what it shares with others.

use std::sync::Arc;

/// One request, as a server sees it.
#[derive(Clone, Debug)]
pub struct Request {
    /// Unique within a run.
    pub id: u64,
    /// When it arrives, in milliseconds from the start of the run.
    pub arrival_ms: f64,
    /// Prompt length, in tokens.
    pub prompt_tokens: u32,
    /// Tokens it will generate, at least 1.
    pub output_tokens: u32,
    /// Who asks: fairness is between tenants.
    pub tenant: u32,
    /// Smaller is more urgent, as in vLLM.
    pub priority: i32,
    /// What is asked: equal keys are equal questions.
    pub key: u64,
    /// The prompt tokens it shares with others.
    pub prefix: Prefix,
}

impl Request {
    /// Prompt and output together, in tokens.
    #[must_use]
    pub fn total_tokens(&self) -> u32 {
        self.prompt_tokens.saturating_add(self.output_tokens)
    }
}

/// Which prompt tokens a request shares with others.
#[derive(Clone, Debug, Default)]
pub enum Prefix {
    /// None.
    #[default]
    Own,
    /// The first `tokens` prompt tokens are those of everybody in `group`.
    Shared {
        /// Whose prefix.
        group: u64,
        /// How long it is, in tokens.
        tokens: u32,
    },
    /// The prompt is this list of blocks of `unit` tokens: equal numbers at equal places after
    /// equal beginnings mean equal tokens (the form of the Mooncake traces).
    Blocks {
        /// One number a block; the last block may be partly filled.
        ids: Arc<[u64]>,
        /// Tokens a block.
        unit: u32,
    },
}

impl Prefix {
    /// A number for the `index`-th block of `size` tokens of request `id`: equal for equal content.
    ///
    /// A chain of them is turned into prefix hashes by the KV cache.
    #[must_use]
    pub fn block(&self, id: u64, index: u32, size: u32) -> u64 {
        let own = mix(id ^ 0x5157_4e0d_5eed_0001).wrapping_add(u64::from(index));
        match self {
            Self::Own => own,
            Self::Shared { group, tokens } => {
                if (index + 1) * size <= *tokens {
                    mix(*group ^ 0x0067_726f_7570_0002).wrapping_add(u64::from(index))
                } else {
                    own
                }
            }
            Self::Blocks { ids, unit } => {
                let unit = (*unit).max(1);
                let last = ((index + 1) * size - 1) / unit;
                match ids.get(last as usize) {
                    Some(block) => mix(*block ^ 0x0062_6c6f_636b_0003)
                        .wrapping_add(u64::from(index * size % unit)),
                    None => own,
                }
            }
        }
    }
}

/// A bijective mix of 64 bits (the finaliser of SplitMix64).
pub(crate) const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
