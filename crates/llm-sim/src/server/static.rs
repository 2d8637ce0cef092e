//! Static batching: a batch is formed, runs to its end, and only then comes the next.

use std::{cmp::Reverse, collections::BinaryHeap, collections::VecDeque};

use super::{Completion, Load, Server, ServerStats, Signal};
use crate::{
    cost::{Batch, Chunk, CostModel},
    workload::Request,
};

/// What becomes of a sequence that ends before the longest of its batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// It keeps its seat, and its result waits for the batch.
    #[default]
    Padded,
    /// It leaves: later steps are cheaper, and its result is out at once.
    Unpadded,
}

/// Static batching with a window.
///
/// A batch opens when the server is free and a request is there; it closes when full, or when the
/// window is over. With one seat and no window this is a plain queue, first come first served.
#[derive(Debug)]
pub struct Static<C> {
    seats: usize,
    window_ms: f64,
    padding: Padding,
    cost: C,
    waiting: VecDeque<Request>,
    state: State,
    cancelled: Vec<u64>,
    stats: ServerStats,
}

#[derive(Debug)]
enum State {
    Idle,
    /// A batch is open until this time.
    Open(f64),
    /// A batch runs; each member ends at its time.
    Running {
        start_ms: f64,
        ends: BinaryHeap<Reverse<End>>,
        until_ms: f64,
    },
}

#[derive(Debug)]
struct End {
    at_ms: f64,
    order: usize,
    request: Request,
}

impl<C> Static<C> {
    /// Batches of at most `seats` requests that arrive within `window_ms` of the first.
    pub fn new(seats: usize, window_ms: f64, padding: Padding, cost: C) -> Self {
        Self {
            seats: seats.max(1),
            window_ms,
            padding,
            cost,
            waiting: VecDeque::new(),
            state: State::Idle,
            cancelled: Vec::new(),
            stats: ServerStats::default(),
        }
    }

    /// One request at a time.
    pub fn sequential(cost: C) -> Self {
        Self::new(1, 0.0, Padding::Padded, cost)
    }

    /// Opens a batch, or starts it at once if it is full.
    fn open(&mut self, now_ms: f64)
    where
        C: CostModel,
    {
        self.state = State::Idle;
        if self.waiting.len() >= self.seats {
            self.start(now_ms);
        } else if !self.waiting.is_empty() {
            self.state = State::Open(now_ms + self.window_ms);
        }
    }

    fn start(&mut self, now_ms: f64)
    where
        C: CostModel,
    {
        let size = self.seats.min(self.waiting.len());
        let members: Vec<Request> = self.waiting.drain(..size).collect();
        let mut outputs: Vec<u32> = members.iter().map(|r| r.output_tokens.max(1)).collect();
        outputs.sort_unstable();
        let longest = outputs.last().copied().unwrap_or(0);
        let prompts: u64 = members.iter().map(|r| u64::from(r.prompt_tokens)).sum();
        let chunks: Vec<Chunk> = members
            .iter()
            .map(|r| Chunk {
                tokens: r.prompt_tokens,
                history: 0,
            })
            .collect();
        let prefill_ms = self.cost.prefill_ms(&chunks);
        let step = |sequences: usize, generated: u32| {
            let context = prompts * sequences as u64 / size.max(1) as u64
                + u64::from(generated) * sequences as u64;
            self.cost.step_ms(&Batch::decode(sequences as u32, context))
        };
        let ends = match self.padding {
            Padding::Padded => {
                let end = now_ms + (prefill_ms + f64::from(longest) * step(size, longest / 2));
                vec![end; size]
            }
            Padding::Unpadded => {
                // The batch shrinks with each end: a segment lasts from one end to the next.
                let (mut at_ms, mut before) = (now_ms + prefill_ms, 0);
                let mut by_length = Vec::with_capacity(size);
                for (ended, output) in outputs.iter().enumerate() {
                    let steps = output - before;
                    at_ms += f64::from(steps) * step(size - ended, before + steps / 2);
                    before = *output;
                    by_length.push((*output, at_ms));
                }
                members
                    .iter()
                    .map(|r| {
                        let at = by_length
                            .partition_point(|(output, _)| *output < r.output_tokens.max(1));
                        by_length.get(at).map_or(at_ms, |(_, end)| *end)
                    })
                    .collect()
            }
        };
        let until_ms = ends.iter().copied().fold(now_ms, f64::max);
        self.stats.steps += u64::from(longest);
        self.stats.busy_ms += until_ms - now_ms;
        self.stats.seats += size as u64 * u64::from(longest);
        self.stats.prefill_tokens += prompts;
        self.stats.output_tokens += outputs.iter().map(|o| u64::from(*o)).sum::<u64>();
        let ends = members
            .into_iter()
            .zip(ends)
            .enumerate()
            .map(|(order, (request, at_ms))| {
                Reverse(End {
                    at_ms,
                    order,
                    request,
                })
            })
            .collect();
        self.state = State::Running {
            start_ms: now_ms,
            ends,
            until_ms,
        };
    }
}

// === impl Server for Static ===

impl<C> Server for Static<C>
where
    C: CostModel,
{
    fn submit(&mut self, now_ms: f64, request: Request) {
        self.waiting.push_back(request);
        match self.state {
            State::Idle => self.open(now_ms),
            State::Open(_) if self.waiting.len() >= self.seats => self.start(now_ms),
            State::Open(_) | State::Running { .. } => {}
        }
    }

    fn next(&self) -> Option<f64> {
        match &self.state {
            State::Idle => None,
            State::Open(until_ms) => Some(*until_ms),
            State::Running { ends, until_ms, .. } => {
                Some(ends.peek().map_or(*until_ms, |Reverse(end)| end.at_ms))
            }
        }
    }

    fn wake(&mut self, now_ms: f64, signals: &mut Vec<Signal>) {
        match &mut self.state {
            State::Idle => {}
            State::Open(until_ms) => {
                if *until_ms <= now_ms {
                    if self.waiting.is_empty() {
                        self.state = State::Idle;
                    } else {
                        self.start(now_ms);
                    }
                }
            }
            State::Running { start_ms, ends, .. } => {
                while ends.peek().is_some_and(|Reverse(end)| end.at_ms <= now_ms) {
                    let Some(Reverse(end)) = ends.pop() else {
                        break;
                    };
                    if let Some(at) = self.cancelled.iter().position(|id| *id == end.request.id) {
                        self.cancelled.swap_remove(at);
                        continue;
                    }
                    signals.push(Signal::FirstToken(end.request.id));
                    signals.push(Signal::Done(Completion {
                        queued_ms: end.request.arrival_ms,
                        scheduled_ms: *start_ms,
                        first_token_ms: now_ms,
                        finished_ms: now_ms,
                        request: end.request,
                        cached_tokens: 0,
                        preemptions: 0,
                    }));
                }
                if ends.is_empty() {
                    self.open(now_ms);
                }
            }
        }
    }

    fn cancel(&mut self, _now_ms: f64, id: u64) -> bool {
        if let Some(at) = self.waiting.iter().position(|request| request.id == id) {
            self.waiting.remove(at);
            return true;
        }
        let State::Running { ends, .. } = &self.state else {
            return false;
        };
        let found = ends.iter().any(|Reverse(end)| end.request.id == id);
        if found && !self.cancelled.contains(&id) {
            // A batch cannot shrink: the result is thrown away when it comes.
            self.cancelled.push(id);
            return true;
        }
        false
    }

    fn load(&self) -> Load {
        let running = match &self.state {
            State::Running { ends, .. } => ends.len() as u32,
            State::Idle | State::Open(_) => 0,
        };
        Load {
            waiting: self.waiting.len() as u32,
            running,
            ..Load::default()
        }
    }

    fn stats(&self) -> &ServerStats {
        &self.stats
    }
}

// === impl Ord for End ===

impl PartialEq for End {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for End {}

impl PartialOrd for End {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for End {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at_ms
            .total_cmp(&other.at_ms)
            .then(self.order.cmp(&other.order))
    }
}
