//! A step from measured operator tables.
//!
//! Three tables of one model on one accelerator, in microseconds: *dense* operators by tokens in
//! the step, *per-sequence* operators by sequences, *attention* by chunk, history, decoding
//! sequences and their context. Nothing is fitted: the tables are interpolated linearly, and a
//! step is the sum of its operators, each as often as the model has it.
//!
//! The operators are measured one by one, launched from the host. A server that replays CUDA
//! graphs saves a part of each launch, and pads a step to the next captured size: see
//! [`Tables::graphs`].

mod attention;
mod csv;
mod curve;
mod experts;
mod launches;
mod surface;

use self::{attention::Attention, csv::Csv, curve::Curve, experts::Experts, launches::Graphs};
use super::{Batch, CostModel};
use crate::error::Error;

/// A cost model from operator tables.
///
/// Times are read in microseconds and given in milliseconds.
#[derive(Clone, Debug)]
pub struct Tables {
    /// All dense operators of a step, by tokens.
    dense: Curve,
    /// All per-sequence operators of a step, by sequences.
    per_sequence: Curve,
    /// Attention of one layer.
    attention: Attention,
    /// The experts of one layer, where the model has them.
    experts: Option<Experts>,
    layers: f64,
    /// Kernels that a step launches.
    launches: f64,
    graphs: Graphs,
    /// What the shards of a layer tell each other.
    exchange: Option<Exchange>,
}

/// Two all-reduces a layer between the shards of tensor parallelism.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    bytes_per_token: f64,
}

impl Exchange {
    /// Microseconds an all-reduce at least takes, and bytes a microsecond beyond: NCCL between two
    /// accelerators over PCIe 5.0 x16, as measured by LLMServingSim (2 x RTX PRO 6000).
    const LATENCY_US: f64 = 12.5;
    const BYTES_PER_US: f64 = 36_500.0;

    /// A layer's time, in microseconds.
    fn layer(&self, tokens: f64) -> f64 {
        2.0 * (Self::LATENCY_US + tokens * self.bytes_per_token / Self::BYTES_PER_US)
    }
}

/// Operators that a step runs once, not once a layer.
const ONCE: &[&str] = &["embedding", "final_layernorm", "lm_head", "sampler"];
/// Operators that a layer runs twice: before attention and before the feed-forward part.
const TWICE: &[&str] = &["layernorm"];

impl Tables {
    /// A model from the text of its tables (CSV with a header) and its number of layers.
    ///
    /// *dense*: `layer,tokens,time_us`; *per-sequence*: `layer,sequences,time_us`; *attention*:
    /// `prefill_chunk,kv_prefill,n_decode,kv_decode,time_us`.
    ///
    /// # Errors
    ///
    /// A table that is empty, or a row that does not hold numbers where they belong.
    pub fn new(
        dense: &str,
        per_sequence: &str,
        attention: &str,
        layers: u32,
    ) -> Result<Self, Error> {
        let times = |operator: &str| {
            let layers = f64::from(layers);
            match operator {
                once if ONCE.contains(&once) => 1.0,
                twice if TWICE.contains(&twice) => 2.0 * layers,
                _ => layers,
            }
        };
        let (dense, dense_launches) = Curve::sum(&Csv::new(dense), "tokens", times)?;
        let (per_sequence, sequence_launches) =
            Curve::sum(&Csv::new(per_sequence), "sequences", times)?;
        let layers = f64::from(layers);
        Ok(Self {
            dense,
            per_sequence,
            attention: Attention::parse(&Csv::new(attention))?,
            experts: None,
            layers,
            // Attention, and the write to the KV cache before it.
            launches: dense_launches + sequence_launches + 2.0 * layers,
            graphs: Graphs::default(),
            exchange: None,
        })
    }

    /// Adds the experts of a mixture-of-experts model: `ep,tokens,activated_experts,time_us`.
    ///
    /// # Errors
    ///
    /// A table that is empty, or a row that does not hold numbers where they belong.
    pub fn experts(mut self, experts: &str) -> Result<Self, Error> {
        self.experts = Some(Experts::parse(&Csv::new(experts))?);
        Ok(self)
    }

    /// Sets the token counts for which a CUDA graph is captured: a step of as many tokens or fewer
    /// is padded to the next of them, and replayed.
    #[must_use]
    pub fn graphs(mut self, sizes: Vec<u32>) -> Self {
        self.graphs = Graphs::new(sizes);
        self
    }

    /// Adds what the shards of tensor parallelism exchange: two all-reduces a layer of
    /// `hidden` values of two bytes a token, between neighbours on PCIe.
    #[must_use]
    pub fn sharded(mut self, hidden: u32) -> Self {
        self.exchange = Some(Exchange {
            bytes_per_token: 2.0 * f64::from(hidden),
        });
        self
    }
}

// === impl CostModel for Tables ===

impl CostModel for Tables {
    fn step_ms(&self, batch: &Batch) -> f64 {
        let tokens = self.graphs.padded(batch.tokens());
        let once = self.dense.at(tokens) + self.per_sequence.at(f64::from(batch.sequences));
        let attention = self.attention.at(batch);
        let experts = self
            .experts
            .as_ref()
            .map_or(0.0, |experts| experts.at(batch.tokens() as f64));
        let exchange = self.exchange.map_or(0.0, |exchange| exchange.layer(tokens));
        let layers = self.layers * (attention + experts + exchange);
        let saved = self.launches * self.graphs.saved_us(batch);
        (once + layers - saved).max(0.0) / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Chunk;

    const DENSE: &str = "layer,tokens,time_us\nqkv,1,10\nqkv,101,110\nlayernorm,1,1\nlayernorm,101,1\nembedding,1,5\nembedding,101,5\n";
    const PER_SEQUENCE: &str = "layer,sequences,time_us\nlm_head,1,100\nlm_head,11,200\n";
    const ATTENTION: &str = "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n\
        0,0,1,100,3\n0,0,1,200,5\n0,0,11,100,13\n0,0,11,200,25\n\
        100,0,0,0,4\n100,100,0,0,6\n200,0,0,0,8\n200,100,0,0,12\n\
        100,0,1,100,6\n100,0,11,100,26\n200,0,1,100,10\n200,0,11,100,30\n";

    fn tables() -> Tables {
        Tables::new(DENSE, PER_SEQUENCE, ATTENTION, 10).expect("the tables are well formed")
    }

    #[test]
    fn a_decoding_step_is_the_sum_of_its_operators() {
        // Dense: 10 layers · (qkv 15 + 2 · 1) + embedding 5; head 150; attention 10 · 11.5.
        let batch = Batch {
            decode_context_max: 150,
            ..Batch::decode(6, 900)
        };
        let us = 10.0 * (15.0 + 2.0) + 5.0 + 150.0 + 10.0 * f64::midpoint(8.0, 15.0);
        assert!((tables().step_ms(&batch) * 1000.0 - us).abs() < 1e-9);
    }

    #[test]
    fn a_step_is_padded_to_the_next_captured_graph() {
        let padded = tables().graphs(vec![1, 8]);
        let step = |tables: &Tables, sequences| tables.step_ms(&Batch::decode(sequences, 600));
        let (six, plain) = (step(&padded, 6), step(&tables(), 6));
        // Two more tokens in ten layers of qkv, less a part of 52 launches: ten layers of qkv, two
        // norms, attention and its write, then embedding and head.
        assert!(((six - plain) * 1000.0 - (20.0 - 52.0 * 1.81)).abs() < 1e-9);
        assert_eq!(step(&padded, 9), step(&tables(), 9));
    }

    #[test]
    fn chunks_share_one_launch_and_decoding_beside_them_costs_what_was_measured() {
        let chunk = |tokens, history| Chunk { tokens, history };
        let attention = |batch: &Batch| tables().attention.at(batch);
        // The launch is 3; each chunk adds what it takes beyond.
        let two = Batch {
            chunks: vec![chunk(100, 0), chunk(200, 100)],
            ..Batch::default()
        };
        assert!((attention(&two) - (3.0 + 1.0 + 9.0)).abs() < 1e-9);
        let beside = Batch {
            chunks: vec![chunk(100, 0)],
            ..Batch::decode(11, 1100)
        };
        assert!((attention(&beside) - 26.0).abs() < 1e-9);
    }

    #[test]
    fn more_tokens_wake_more_experts() {
        let moe = "ep,tokens,activated_experts,time_us\n1,1,2,10\n1,1,4,20\n1,100,2,10\n1,100,4,20\n2,1,1,9\n";
        let with = tables().experts(moe).expect("the table is well formed");
        let extra = |n| {
            let batch = Batch::decode(n, 100 * u64::from(n));
            (with.step_ms(&batch) - tables().step_ms(&batch)) * 1000.0
        };
        // One token: 2 of 4 experts; many: all of them.
        assert!((extra(1) - 100.0).abs() < 1e-6);
        assert!((extra(2) - 150.0).abs() < 1e-6);
        assert!((extra(60) - 200.0).abs() < 1e-6);
    }

    #[test]
    fn a_broken_row_is_an_error() {
        assert!(
            Tables::new(
                "layer,tokens,time_us\nqkv,one,2\n",
                PER_SEQUENCE,
                ATTENTION,
                1
            )
            .is_err()
        );
        assert!(Tables::new(DENSE, PER_SEQUENCE, "header\n", 1).is_err());
    }
}
