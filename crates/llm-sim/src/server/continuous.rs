//! Continuous batching: sequences join and leave between steps.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use super::{Completion, Load, Server, ServerStats, Signal};
use crate::{
    cost::{Batch, Chunk, CostModel},
    workload::Request,
};

/// The reference's continuous batching: at each step every waiting request takes a free seat; its
/// whole prompt is computed in that step, which gives it its first token; everyone with a seat gets
/// one token a step.
///
/// The cost of a step does not depend on the number of sequences in it, only on what changes: ends
/// are kept in a heap by step number.
#[derive(Debug)]
pub struct Continuous<C> {
    seats: u32,
    cost: C,
    waiting: VecDeque<Request>,
    running: Vec<Option<Running>>,
    free: Vec<usize>,
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    newcomers: Vec<usize>,
    batch: Batch,
    step: u64,
    occupied: u32,
    context: u64,
    wake_ms: Option<f64>,
    step_ms: f64,
    every_token: bool,
    stats: ServerStats,
}

#[derive(Debug)]
struct Running {
    request: Request,
    queued_ms: f64,
    scheduled_ms: f64,
    first_token_ms: f64,
    cancelled: bool,
}

impl<C> Continuous<C> {
    /// A server with this many seats.
    pub fn new(seats: u32, cost: C) -> Self {
        Self {
            seats: seats.max(1),
            cost,
            waiting: VecDeque::new(),
            running: Vec::new(),
            free: Vec::new(),
            ends: BinaryHeap::new(),
            newcomers: Vec::new(),
            batch: Batch::default(),
            step: 0,
            occupied: 0,
            context: 0,
            wake_ms: None,
            step_ms: 0.0,
            every_token: false,
            stats: ServerStats::default(),
        }
    }

    /// Reports every token, not only the first: for whoever replays a run in real time.
    #[must_use]
    pub const fn report_tokens(mut self) -> Self {
        self.every_token = true;
        self
    }

    /// Reports a token of everybody who has had one.
    fn later_tokens(&self, signals: &mut Vec<Signal>) {
        let later = self.running.iter().enumerate().filter_map(|(slot, seat)| {
            let running = seat.as_ref()?;
            let later = !running.cancelled && !self.newcomers.contains(&slot);
            later.then_some(Signal::Token(running.request.id))
        });
        signals.extend(later);
    }

    /// Ends the step that was running until now.
    fn finish_step(&mut self, now_ms: f64, signals: &mut Vec<Signal>) {
        if self.every_token {
            self.later_tokens(signals);
        }
        let newcomers = self.newcomers.len() as u32;
        for slot in self.newcomers.drain(..) {
            if let Some(Some(running)) = self.running.get_mut(slot) {
                running.first_token_ms = now_ms;
                if !running.cancelled {
                    signals.push(Signal::FirstToken(running.request.id));
                }
            }
        }
        self.stats
            .itl
            .add(self.step_ms, u64::from(self.occupied - newcomers));
        self.stats.output_tokens += u64::from(self.occupied);
        self.context += u64::from(self.occupied);
        while let Some(Reverse((end, slot))) = self.ends.peek().copied() {
            if end > self.step {
                break;
            }
            self.ends.pop();
            let Some(running) = self.running.get_mut(slot).and_then(Option::take) else {
                continue;
            };
            self.free.push(slot);
            self.occupied -= 1;
            self.context -= u64::from(running.request.total_tokens());
            if !running.cancelled {
                signals.push(Signal::Done(Completion {
                    request: running.request,
                    queued_ms: running.queued_ms,
                    scheduled_ms: running.scheduled_ms,
                    first_token_ms: running.first_token_ms,
                    finished_ms: now_ms,
                    cached_tokens: 0,
                    preemptions: 0,
                }));
            }
        }
    }

    fn admit(&mut self, now_ms: f64) {
        self.batch.clear();
        while self.occupied < self.seats {
            let Some(request) = self.waiting.pop_front() else {
                break;
            };
            let prompt = request.prompt_tokens;
            self.batch.chunks.push(Chunk {
                tokens: prompt,
                history: 0,
            });
            self.context += u64::from(prompt);
            self.stats.prefill_tokens += u64::from(prompt);
            let end = self.step + u64::from(request.output_tokens.max(1));
            let running = Running {
                queued_ms: request.arrival_ms,
                request,
                scheduled_ms: now_ms,
                first_token_ms: now_ms,
                cancelled: false,
            };
            let slot = match self.free.pop() {
                Some(slot) => slot,
                None => {
                    self.running.push(None);
                    self.running.len() - 1
                }
            };
            if let Some(seat) = self.running.get_mut(slot) {
                *seat = Some(running);
            }
            self.ends.push(Reverse((end, slot)));
            self.newcomers.push(slot);
            self.occupied += 1;
        }
    }
}

// === impl Server for Continuous ===

impl<C> Server for Continuous<C>
where
    C: CostModel,
{
    fn submit(&mut self, now_ms: f64, request: Request) {
        self.waiting.push_back(request);
        if self.wake_ms.is_none() {
            self.wake_ms = Some(now_ms);
            self.step_ms = 0.0;
        }
    }

    fn next(&self) -> Option<f64> {
        self.wake_ms
    }

    fn wake(&mut self, now_ms: f64, signals: &mut Vec<Signal>) {
        if self.occupied > 0 {
            self.finish_step(now_ms, signals);
        }
        self.admit(now_ms);
        if self.occupied == 0 {
            self.wake_ms = None;
            return;
        }
        let newcomers = self.newcomers.len() as u32;
        self.batch.sequences = self.occupied;
        self.batch.decodes = self.occupied - newcomers;
        self.batch.decode_context = self.context - self.batch.prefill_tokens();
        self.step_ms = self.cost.step_ms(&self.batch);
        self.step += 1;
        self.wake_ms = Some(now_ms + self.step_ms);
        self.stats.steps += 1;
        self.stats.busy_ms += self.step_ms;
        self.stats.seats += u64::from(self.occupied);
    }

    fn cancel(&mut self, _now_ms: f64, id: u64) -> bool {
        if let Some(at) = self.waiting.iter().position(|request| request.id == id) {
            self.waiting.remove(at);
            return true;
        }
        let seat = self
            .running
            .iter_mut()
            .enumerate()
            .find_map(|(slot, running)| {
                running
                    .as_mut()
                    .filter(|running| running.request.id == id && !running.cancelled)
                    .map(|running| (slot, running))
            });
        let Some((slot, running)) = seat else {
            return false;
        };
        // It leaves with the step that is running now: its last token becomes that of the step.
        running.cancelled = true;
        let generated = {
            let end = self.ends.iter().find(|Reverse((_, at))| *at == slot);
            end.map_or(0, |Reverse((end, _))| end.saturating_sub(self.step))
        };
        running.request.output_tokens -= generated as u32;
        let step = self.step;
        self.ends = self
            .ends
            .drain()
            .map(|Reverse((end, at))| Reverse((if at == slot { step } else { end }, at)))
            .collect();
        true
    }

    fn load(&self) -> Load {
        Load {
            waiting: self.waiting.len() as u32,
            running: self.occupied,
            ..Load::default()
        }
    }

    fn stats(&self) -> &ServerStats {
        &self.stats
    }
}
