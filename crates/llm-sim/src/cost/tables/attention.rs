//! Attention of one layer, in microseconds, from a table over four axes.

use std::collections::BTreeMap;

use super::{Csv, surface::Surface};
use crate::{
    cost::{Batch, Chunk},
    error::Error,
};

/// What uneven contexts cost: 0 for none, 1 for padding to the longest.
const UNEVENNESS: f64 = 0.05;

/// The kernel's time by what a step asks of it.
#[derive(Clone, Debug)]
pub(super) struct Attention {
    /// Decoding alone.
    decode: Surface,
    /// One chunk alone, by its tokens and its history.
    prefill: Surface,
    /// What decoding adds to a step with a chunk, by the chunk's tokens.
    beside: Vec<(f64, Surface)>,
    /// A launch with next to nothing to do.
    launch: f64,
}

impl Attention {
    pub(super) fn parse(csv: &Csv<'_>) -> Result<Self, Error> {
        let mut table = BTreeMap::new();
        for row in csv.rows() {
            // Later tables also have other kernels, and several tokens a decoding sequence.
            let plain = |column: &str, value: &str| row.text(column).is_none_or(|it| it == value);
            if !plain("layer", "attention") || !plain("decode_q_len", "1") {
                continue;
            }
            let whole = |column: &str| row.number(column).map(|number| number as u32);
            let (chunk, history) = (whole("prefill_chunk")?, whole("kv_prefill")?);
            let (decodes, context) = (whole("n_decode")?, whole("kv_decode")?);
            table.insert((chunk, history, decodes, context), row.number("time_us")?);
        }
        if table.is_empty() {
            return Err(Error::new("the attention table is empty"));
        }
        let launch = table.values().copied().fold(f64::INFINITY, f64::min);
        let mut decode = Surface::default();
        let mut prefill = Surface::default();
        let mut beside: BTreeMap<u32, Surface> = BTreeMap::new();
        for (&(chunk, history, decodes, context), &time) in &table {
            if chunk == 0 {
                decode.add(decodes, context, time);
            } else if decodes == 0 {
                prefill.add(chunk, history, time);
            } else if history == 0
                && let Some(alone) = table.get(&(chunk, 0, 0, 0))
            {
                beside
                    .entry(chunk)
                    .or_default()
                    .add(decodes, context, time - alone);
            }
        }
        let beside = beside
            .into_iter()
            .map(|(chunk, surface)| (f64::from(chunk), surface.sorted()))
            .collect();
        Ok(Self {
            decode: decode.sorted(),
            prefill: prefill.sorted(),
            beside,
            launch,
        })
    }

    pub(super) fn at(&self, batch: &Batch) -> f64 {
        let decodes = f64::from(batch.decodes);
        let mean = batch.decode_context as f64 / decodes.max(1.0);
        let uneven = (f64::from(batch.decode_context_max) - mean).max(0.0);
        let context = mean + UNEVENNESS * uneven;
        if batch.chunks.is_empty() {
            return if batch.decodes > 0 {
                self.decode.at(decodes, context)
            } else {
                0.0
            };
        }
        let prefill: f64 = batch.chunks.iter().map(|chunk| self.chunk(chunk)).sum();
        let beside = if batch.decodes > 0 {
            self.beside(batch.prefill_tokens() as f64, decodes, context)
        } else {
            0.0
        };
        self.launch + prefill + beside
    }

    /// What a chunk adds to a launch.
    fn chunk(&self, chunk: &Chunk) -> f64 {
        let time = self
            .prefill
            .at(f64::from(chunk.tokens), f64::from(chunk.history));
        (time - self.launch).max(0.0)
    }

    fn beside(&self, chunk: f64, decodes: f64, context: f64) -> f64 {
        let after = self.beside.partition_point(|(other, _)| *other < chunk);
        let last = self.beside.len().saturating_sub(1);
        let (Some((x0, low)), Some((x1, high))) = (
            self.beside.get(after.saturating_sub(1)),
            self.beside.get(after.min(last)),
        ) else {
            return self.decode.at(decodes, context);
        };
        let share = if x1 > x0 {
            ((chunk - x0) / (x1 - x0)).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let (low, high) = (low.at(decodes, context), high.at(decodes, context));
        (low + share * (high - low)).max(0.0)
    }
}
