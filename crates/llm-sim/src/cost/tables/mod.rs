//! A step from measured operator tables.
//!
//! Three tables of one model on one accelerator, in microseconds: *dense* operators by tokens in
//! the step, *per-sequence* operators by sequences, *attention* by chunk, history, decoding
//! sequences and their context. Nothing is fitted: the tables are interpolated linearly, and a
//! step is the sum of its operators, each as often as the model has it.

mod attention;
mod curve;

use self::{attention::Attention, curve::Curve};
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
    layers: f64,
    /// Token counts for which a CUDA graph exists: a step is padded up to the next one.
    graph_sizes: Vec<u32>,
    overhead_ms: f64,
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
        Ok(Self {
            dense: Curve::sum(dense, times)?,
            per_sequence: Curve::sum(per_sequence, times)?,
            attention: Attention::parse(attention)?,
            layers: f64::from(layers),
            graph_sizes: Vec::new(),
            overhead_ms: 0.0,
        })
    }

    /// Sets the token counts for which a CUDA graph is captured.
    #[must_use]
    pub fn graph_sizes(mut self, mut sizes: Vec<u32>) -> Self {
        sizes.sort_unstable();
        self.graph_sizes = sizes;
        self
    }

    /// Sets what a step costs beside its operators, in milliseconds: 0 unless measured.
    #[must_use]
    pub const fn overhead_ms(mut self, overhead_ms: f64) -> Self {
        self.overhead_ms = overhead_ms;
        self
    }

    /// The tokens that the linear layers see: padded to the next captured graph.
    fn padded(&self, tokens: u64) -> f64 {
        let at = self
            .graph_sizes
            .partition_point(|size| u64::from(*size) < tokens);
        self.graph_sizes
            .get(at)
            .map_or(tokens as f64, |size| f64::from(*size))
    }
}

// === impl CostModel for Tables ===

impl CostModel for Tables {
    fn step_ms(&self, batch: &Batch) -> f64 {
        let dense = self.dense.at(self.padded(batch.tokens()));
        let per_sequence = self.per_sequence.at(f64::from(batch.sequences));
        let attention = self.layers * self.attention.at(batch);
        self.overhead_ms + (dense + per_sequence + attention) / 1000.0
    }
}

/// The rows of a CSV text: the fields after the header.
fn rows(csv: &str) -> impl Iterator<Item = Vec<&str>> {
    csv.lines()
        .skip(1)
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| line.split(',').map(str::trim).collect())
}

fn number(field: Option<&&str>, row: &[&str]) -> Result<f64, Error> {
    field
        .and_then(|field| field.parse().ok())
        .ok_or_else(|| Error::new(format!("not an operator row: {}", row.join(","))))
}
