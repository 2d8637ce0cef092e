//! Planning a step.

use super::{Entry, Mixing, Step, Stop, Vllm, sequence::Place};
use crate::{
    cost::{Chunk, CostModel},
    kv::BlockTable,
    server::Order,
};

/// Which running sequences a pass plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    All,
    Prompts,
}

impl<C> Vllm<C>
where
    C: CostModel,
{
    /// Plans a step; `None` where nothing can run.
    pub(super) fn schedule(&mut self, now_ms: f64) -> Option<Step> {
        let mut entries = self.spare.pop().unwrap_or_default();
        let mut budget = self.config.max_tokens;
        let preempted = match self.config.mixing {
            Mixing::Mixed => self.schedule_running(Part::All, &mut entries, &mut budget),
            Mixing::PrefillFirst => self.schedule_running(Part::Prompts, &mut entries, &mut budget),
        };
        if !(preempted && self.config.pause_admission) {
            self.schedule_waiting(now_ms, &mut entries, &mut budget);
        }
        if entries.is_empty() && self.config.mixing == Mixing::PrefillFirst {
            self.schedule_running(Part::All, &mut entries, &mut budget);
        }
        if entries.is_empty() {
            self.spare.push(entries);
            return None;
        }
        self.commit(&mut entries);
        let ms = self.cost.step_ms(&self.batch);
        Some(Step { entries, ms })
    }

    /// One token for each decoding sequence, the next chunk for each prefilling one; true where
    /// somebody was preempted.
    fn schedule_running(&mut self, part: Part, entries: &mut Vec<Entry>, budget: &mut u32) -> bool {
        let mut preempted = false;
        let mut at = 0;
        while *budget > 0 {
            let Some(slot) = self.running.get(at).copied() else {
                break;
            };
            let Some(sequence) = self.sequences.get_mut(slot) else {
                break;
            };
            let complete = sequence.complete() && self.config.stop == Stop::AtLimit;
            if complete || (part == Part::Prompts && sequence.decodes()) {
                at += 1;
                continue;
            }
            let tokens = sequence
                .remaining()
                .min(self.config.chunk_tokens)
                .min(*budget);
            if tokens == 0 {
                at += 1;
                continue;
            }
            let blocks = (sequence.computed + tokens).div_ceil(self.config.block_size);
            let birth = sequence.birth;
            if !sequence.table.grow(&mut self.pool, blocks) {
                preempted = true;
                if !self.make_room(slot, blocks, entries, budget, &mut at) {
                    break;
                }
            }
            entries.push(Entry {
                slot,
                birth,
                tokens,
                samples: false,
            });
            *budget -= tokens;
            at += 1;
        }
        preempted
    }

    /// Preempts until `slot` has its blocks; false where it had to give way itself.
    fn make_room(
        &mut self,
        slot: usize,
        blocks: u32,
        entries: &mut Vec<Entry>,
        budget: &mut u32,
        at: &mut usize,
    ) -> bool {
        loop {
            let Some(victim_at) = self.victim() else {
                return false;
            };
            let victim = self.running.remove(victim_at);
            if victim_at < *at {
                *at -= 1;
                if let Some(planned) = entries.iter().position(|entry| entry.slot == victim) {
                    *budget += entries.remove(planned).tokens;
                }
            }
            self.preempt(victim);
            if victim == slot {
                return false;
            }
            let grown = self
                .sequences
                .get_mut(slot)
                .is_some_and(|sequence| sequence.table.grow(&mut self.pool, blocks));
            if grown {
                return true;
            }
        }
    }

    /// The place in `running` of the sequence to preempt.
    fn victim(&self) -> Option<usize> {
        if self.config.order != Order::Priority {
            return self.running.len().checked_sub(1);
        }
        let urgency = |slot: &usize| {
            self.sequences.get(*slot).map(|sequence| {
                (
                    sequence.request.priority,
                    sequence.request.arrival_ms.max(0.0).to_bits(),
                )
            })
        };
        self.running
            .iter()
            .enumerate()
            .max_by_key(|(_, slot)| urgency(slot))
            .map(|(at, _)| at)
    }

    fn preempt(&mut self, slot: usize) {
        if let Some(sequence) = self.sequences.get_mut(slot) {
            sequence.table.release(&mut self.pool);
            sequence.preempt();
            self.waiting
                .charge(sequence.request.tenant, sequence.uncharged());
            self.waiting.push_front(slot, &sequence.request);
            self.stats.preemptions += 1;
        }
    }

    /// Admits waiting sequences while budget, seats and blocks last.
    fn schedule_waiting(&mut self, now_ms: f64, entries: &mut Vec<Entry>, budget: &mut u32) {
        let size = self.config.block_size;
        while *budget > 0 && self.running.len() < self.config.max_sequences {
            let (sequences, pool) = (&self.sequences, &self.pool);
            let prefix = |slot: usize| {
                sequences.get(slot).map_or(0, |sequence| {
                    let limit = sequence.known_tokens().saturating_sub(1) / size;
                    BlockTable::cached(pool, &sequence.request, size, limit).0
                })
            };
            let Some(slot) = self.waiting.peek(prefix) else {
                break;
            };
            let Some(sequence) = self.sequences.get_mut(slot) else {
                break;
            };
            let known = sequence.known_tokens();
            let (hits, free_hits) = if self.config.prefix_caching {
                // At least one token is computed, so that there is something to sample from.
                BlockTable::cached(&self.pool, &sequence.request, size, (known - 1) / size)
            } else {
                (0, 0)
            };
            let cached = hits * size;
            let tokens = (known - cached).min(self.config.chunk_tokens).min(*budget);
            let reserved = if self.config.reserve_prompt {
                known
            } else {
                cached + tokens
            };
            if reserved.div_ceil(size) - hits + free_hits > self.pool.free() {
                break;
            }
            sequence
                .table
                .adopt(&mut self.pool, &sequence.request, size, hits);
            if !sequence
                .table
                .grow(&mut self.pool, (cached + tokens).div_ceil(size))
            {
                debug_assert!(false, "the blocks were counted before");
                break;
            }
            self.waiting.pop();
            self.waiting
                .charge(sequence.request.tenant, sequence.uncharged());
            sequence.place = Place::Running;
            sequence.computed = cached;
            if sequence.scheduled_ms.is_none() {
                sequence.scheduled_ms = Some(now_ms);
                sequence.cached = cached;
            }
            self.stats.looked_up_tokens += u64::from(known);
            self.stats.cached_tokens += u64::from(cached);
            self.running.push(slot);
            entries.push(Entry {
                slot,
                birth: sequence.birth,
                tokens,
                samples: false,
            });
            *budget -= tokens;
        }
    }

    /// Books what the step will compute, and describes it to the cost model.
    fn commit(&mut self, entries: &mut [Entry]) {
        self.batch.clear();
        self.batch.sequences = entries.len() as u32;
        for entry in entries {
            let Some(sequence) = self.sequences.get_mut(entry.slot) else {
                continue;
            };
            let history = sequence.computed;
            let decodes = sequence.decodes();
            entry.samples = entry.tokens == sequence.remaining();
            sequence.computed += entry.tokens;
            if entry.samples {
                sequence.in_flight += 1;
            }
            if decodes {
                self.batch.decodes += 1;
                self.batch.decode_context += u64::from(sequence.computed);
                self.batch.decode_context_max =
                    self.batch.decode_context_max.max(sequence.computed);
            } else {
                self.batch.chunks.push(Chunk {
                    tokens: entry.tokens,
                    history,
                });
                self.stats.prefill_tokens += u64::from(entry.tokens);
                if self.config.prefix_caching {
                    // What this step computes can be found by the steps planned after it.
                    let known = sequence.computed.min(sequence.known_tokens());
                    let size = self.config.block_size;
                    sequence
                        .table
                        .name(&mut self.pool, &sequence.request, size, known);
                }
            }
        }
    }
}
