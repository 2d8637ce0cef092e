//! The scheduler of vLLM V1.
//!
//! Each step has a budget of tokens. Running sequences come first, one decode token each or the
//! rest of their prompt in chunks; then waiting ones, while budget, seats and KV blocks last. Where
//! a block is missing, the last running sequence (or the least urgent) is preempted: it frees its
//! blocks, goes to the head of the queue, and nobody is admitted in that step. Its prompt and what
//! it has generated are computed again later, less what the prefix cache still holds.

mod config;
mod schedule;
mod sequence;

use std::mem;

pub use self::config::{Mixing, Pipeline, Stop, VllmConfig};
use self::sequence::{Place, Sequence};
use super::{Load, Server, ServerStats, Signal, order::Queue};
use crate::{
    cost::{Batch, CostModel},
    kv::BlockPool,
    workload::Request,
};

/// A server with the scheduler of vLLM V1.
#[derive(Debug)]
pub struct Vllm<C> {
    config: VllmConfig,
    cost: C,
    pool: BlockPool,
    sequences: Vec<Sequence>,
    vacant: Vec<usize>,
    waiting: Queue,
    /// In the order of admission.
    running: Vec<usize>,
    /// The step that runs, and when it ends.
    executing: Option<(Step, f64)>,
    /// With a pipeline: the step planned while the other runs.
    planned: Option<Step>,
    spare: Vec<Vec<Entry>>,
    batch: Batch,
    rejected: Vec<Request>,
    /// Slots of what has come since the last wake: the server looks only between two steps.
    arrived: Vec<usize>,
    wake_ms: Option<f64>,
    births: u64,
    every_token: bool,
    stats: ServerStats,
}

/// A planned step.
#[derive(Debug)]
struct Step {
    entries: Vec<Entry>,
    ms: f64,
}

/// One sequence's part of a step.
#[derive(Clone, Copy, Debug)]
struct Entry {
    slot: usize,
    /// Tells a sequence from a later one in the same slot.
    birth: u64,
    tokens: u32,
    /// Whether the step ends with a new token of the sequence.
    samples: bool,
}

impl<C> Vllm<C> {
    /// A server from its settings and its cost model.
    pub fn new(config: VllmConfig, cost: C) -> Self {
        Self {
            pool: BlockPool::new(config.kv_blocks),
            waiting: Queue::new(config.order),
            config,
            cost,
            sequences: Vec::new(),
            vacant: Vec::new(),
            running: Vec::new(),
            executing: None,
            planned: None,
            spare: Vec::new(),
            batch: Batch::default(),
            rejected: Vec::new(),
            arrived: Vec::new(),
            wake_ms: None,
            births: 0,
            every_token: false,
            stats: ServerStats::default(),
        }
    }

    /// Records waiting, running, KV use and preemptions over time, every `every_ms` to begin with.
    #[must_use]
    pub fn record_series(mut self, every_ms: f64) -> Self {
        self.stats.series = Some(crate::metrics::Series::new(every_ms));
        self
    }

    /// Reports every token, not only the first: for whoever replays a run in real time.
    #[must_use]
    pub const fn report_tokens(mut self) -> Self {
        self.every_token = true;
        self
    }

    /// The KV blocks: free and used together are the total.
    pub const fn pool(&self) -> &BlockPool {
        &self.pool
    }

    /// Books the results of a step that has ended.
    fn finish(&mut self, step: Step, now_ms: f64, signals: &mut Vec<Signal>) {
        let mut ended = false;
        for entry in &step.entries {
            let Some(sequence) = self.sequences.get_mut(entry.slot) else {
                continue;
            };
            if !entry.samples || sequence.birth != entry.birth {
                continue;
            }
            sequence.in_flight -= 1;
            sequence.generated += 1;
            self.stats.output_tokens += 1;
            if sequence.generated == 1 {
                sequence.first_token_ms = now_ms;
                signals.push(Signal::FirstToken(sequence.request.id));
            } else {
                self.stats.itl.add(now_ms - sequence.last_token_ms, 1);
                if self.every_token {
                    signals.push(Signal::Token(sequence.request.id));
                }
            }
            sequence.last_token_ms = now_ms;
            if sequence.generated >= sequence.request.output_tokens {
                ended = true;
                self.retire(entry.slot, now_ms, signals);
            } else if self.config.prefix_caching
                && sequence.place == Place::Running
                && sequence.known_tokens() % self.config.block_size == 0
            {
                let known = sequence.known_tokens().min(sequence.computed);
                sequence.table.name(
                    &mut self.pool,
                    &sequence.request,
                    self.config.block_size,
                    known,
                );
            }
        }
        if ended {
            let sequences = &self.sequences;
            self.running.retain(|slot| {
                sequences
                    .get(*slot)
                    .is_some_and(|sequence| sequence.place == Place::Running)
            });
        }
        let mut entries = step.entries;
        entries.clear();
        self.spare.push(entries);
    }

    /// Takes a sequence that is done out of its seat, or of the queue if it was preempted while its
    /// last token was being made.
    fn retire(&mut self, slot: usize, now_ms: f64, signals: &mut Vec<Signal>) {
        let Some(sequence) = self.sequences.get_mut(slot) else {
            return;
        };
        sequence.table.release(&mut self.pool);
        if sequence.place == Place::Waiting {
            self.waiting.remove(slot);
        }
        self.waiting
            .charge(sequence.request.tenant, sequence.uncharged());
        signals.push(Signal::Done(sequence.retire(now_ms)));
        self.vacant.push(slot);
    }

    fn observe(&mut self, now_ms: f64) {
        let used = self.pool.used();
        self.stats.kv_peak = self.stats.kv_peak.max(used);
        if let Some(series) = &mut self.stats.series {
            let values = [
                self.waiting.len() as f64,
                self.running.len() as f64,
                f64::from(used) / f64::from(self.pool.total().max(1)),
                self.stats.preemptions as f64,
            ];
            series.offer(now_ms, values);
        }
    }
}

// === impl Server for Vllm ===

impl<C> Server for Vllm<C>
where
    C: CostModel,
{
    fn submit(&mut self, now_ms: f64, request: Request) {
        if self.wake_ms.is_none() {
            self.wake_ms = Some(now_ms);
        }
        if request.total_tokens().div_ceil(self.config.block_size) > self.pool.total() {
            self.rejected.push(request);
            return;
        }
        self.births += 1;
        let sequence = Sequence::new(self.births, request);
        let slot = match self.vacant.pop() {
            Some(slot) => slot,
            None => self.sequences.len(),
        };
        self.waiting.push(slot, &sequence.request);
        self.arrived.push(slot);
        match self.sequences.get_mut(slot) {
            Some(vacant) => *vacant = sequence.with_table_of(vacant),
            None => self.sequences.push(sequence),
        }
    }

    fn next(&self) -> Option<f64> {
        self.wake_ms
    }

    fn wake(&mut self, now_ms: f64, signals: &mut Vec<Signal>) {
        signals.extend(self.rejected.drain(..).map(Signal::Rejected));
        for slot in self.arrived.drain(..) {
            if let Some(sequence) = self.sequences.get_mut(slot) {
                sequence.queued_ms = now_ms;
            }
        }
        if self
            .executing
            .as_ref()
            .is_some_and(|(_, end_ms)| *end_ms <= now_ms)
            && let Some((step, _)) = self.executing.take()
        {
            self.finish(step, now_ms, signals);
        }
        if self.executing.is_none() {
            let step = match self.planned.take() {
                Some(step) => Some(step),
                None => self.schedule(now_ms),
            };
            if let Some(step) = step {
                let end_ms = now_ms + step.ms;
                self.stats.steps += 1;
                self.stats.busy_ms += step.ms;
                self.stats.seats += step.entries.len() as u64;
                self.executing = Some((step, end_ms));
                if self.config.pipeline == Pipeline::Asynchronous {
                    self.planned = self.schedule(now_ms);
                }
            }
        }
        self.observe(now_ms);
        self.wake_ms = self.executing.as_ref().map(|(_, end_ms)| *end_ms);
    }

    fn cancel(&mut self, _now_ms: f64, id: u64) -> bool {
        let found = self
            .sequences
            .iter_mut()
            .enumerate()
            .find(|(_, sequence)| sequence.request.id == id && sequence.place != Place::Vacant);
        let Some((slot, sequence)) = found else {
            return false;
        };
        sequence.table.release(&mut self.pool);
        match mem::replace(&mut sequence.place, Place::Vacant) {
            Place::Waiting => self.waiting.remove(slot),
            Place::Running => self.running.retain(|other| *other != slot),
            Place::Vacant => {}
        }
        // What the step in flight makes for it has no taker any more.
        sequence.birth = 0;
        self.vacant.push(slot);
        true
    }

    fn load(&self) -> Load {
        Load {
            waiting: self.waiting.len() as u32,
            running: self.running.len() as u32,
            kv_used: self.pool.used(),
            kv_total: self.pool.total(),
        }
    }

    fn stats(&self) -> &ServerStats {
        &self.stats
    }
}
