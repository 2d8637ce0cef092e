//! Requests that go on together.

use std::collections::{HashMap, VecDeque};

use super::{Front, Tally};
use crate::{
    engine::{Context, Due},
    server::Signal,
    workload::Request,
};

/// How long a batch that is not full waits for more, in milliseconds from its oldest request: the
/// windows of `tower-batch-llm`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// Always so long.
    Fixed(f64),
    /// Not at all while no batch runs; else until the last of them ends, and so long at most.
    WhileBusy(f64),
}

/// Collects requests, and hands them on a batch at a time; each leaves when its own answer is there.
///
/// For servers that do not take in requests between steps, one forward a batch: embeddings, say.
/// Servers that batch continuously need none before them.
#[derive(Clone, Debug)]
pub struct Batching<F> {
    inner: F,
    window: Window,
    max_items: usize,
    max_in_flight: usize,
    /// Each with its arrival, in milliseconds.
    waiting: VecDeque<(f64, Request)>,
    /// The batch of each request within.
    batch_of: HashMap<u64, u64>,
    /// Requests left of each batch within.
    left: HashMap<u64, usize>,
    batches: u64,
}

impl<F> Batching<F> {
    /// Batches of at most `max_items` requests before `inner`, one at a time.
    #[must_use]
    pub fn new(inner: F, max_items: usize, window: Window) -> Self {
        Self {
            inner,
            window,
            max_items: max_items.max(1),
            max_in_flight: 1,
            waiting: VecDeque::new(),
            batch_of: HashMap::new(),
            left: HashMap::new(),
            batches: 0,
        }
    }

    /// Sets how many batches run at a time.
    #[must_use]
    pub fn max_in_flight(mut self, batches: usize) -> Self {
        self.max_in_flight = batches.max(1);
        self
    }

    /// Whether a batch may go now.
    fn is_due(&self, now_ms: f64) -> bool {
        let Some((oldest_ms, _)) = self.waiting.front() else {
            return false;
        };
        if self.left.len() >= self.max_in_flight {
            return false;
        }
        let (Window::Fixed(wait_ms) | Window::WhileBusy(wait_ms)) = self.window;
        let idle = matches!(self.window, Window::WhileBusy(_)) && self.left.is_empty();
        idle || self.waiting.len() >= self.max_items || now_ms >= oldest_ms + wait_ms
    }
}

impl<F> Batching<F>
where
    F: Front,
{
    fn send(&mut self, cx: &mut Context<'_>) {
        while self.is_due(cx.now_ms()) {
            self.batches += 1;
            let size = self.waiting.len().min(self.max_items);
            let batch: Vec<Request> = self.waiting.drain(..size).map(|(_, r)| r).collect();
            self.left.insert(self.batches, size);
            for request in &batch {
                self.batch_of.insert(request.id, self.batches);
            }
            for request in batch {
                let reports = cx.inner(|cx| self.inner.arrive(request, cx));
                self.reported(reports, cx);
            }
        }
    }

    fn reported(&mut self, reports: Vec<Signal>, cx: &mut Context<'_>) {
        for signal in reports {
            let id = match &signal {
                Signal::FirstToken(_) | Signal::Token(_) => None,
                Signal::Done(done) => Some(done.request.id),
                Signal::Rejected(request) => Some(request.id),
            };
            if let Some(batch) = id.and_then(|id| self.batch_of.remove(&id))
                && let Some(left) = self.left.get_mut(&batch)
            {
                *left -= 1;
                if *left == 0 {
                    self.left.remove(&batch);
                }
            }
            cx.report(signal);
        }
    }
}

// === impl Front for Batching ===

impl<F> Front for Batching<F>
where
    F: Front,
{
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>) {
        let (Window::Fixed(wait_ms) | Window::WhileBusy(wait_ms)) = self.window;
        cx.set_timer(cx.now_ms() + wait_ms, 0);
        self.waiting.push_back((cx.now_ms(), request));
        self.send(cx);
    }

    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>) {
        let reports = cx.inner(|cx| self.inner.signal(server, signal, cx));
        self.reported(reports, cx);
        self.send(cx);
    }

    fn timer(&mut self, due: Due, cx: &mut Context<'_>) {
        if let Err(due) = due.token() {
            let reports = cx.inner(|cx| self.inner.timer(due, cx));
            self.reported(reports, cx);
        }
        self.send(cx);
    }

    fn tally(&self, tally: &mut Tally) {
        tally.batches += self.batches;
        self.inner.tally(tally);
    }
}
