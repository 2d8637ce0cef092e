//! A limit on what is inside, and a bounded queue before it.

use std::collections::VecDeque;

use super::{Front, Tally};
use crate::{
    engine::{Context, Due},
    server::Signal,
    workload::Request,
};

/// Lets `limit` requests in at a time; others wait in a bounded queue, first come first served, and
/// are turned away when it is full or when they have waited too long.
#[derive(Clone, Debug)]
pub struct Admission<F> {
    inner: F,
    limit: usize,
    queue: usize,
    wait_ms: f64,
    admitted: usize,
    admitted_peak: usize,
    /// Each with its number: timers name it.
    waiting: VecDeque<(u64, Request)>,
    numbers: u64,
    shed: u64,
    timed_out: u64,
}

impl<F> Admission<F> {
    /// At most `limit` requests in `inner`, and a queue without end.
    #[must_use]
    pub const fn new(inner: F, limit: usize) -> Self {
        Self {
            inner,
            limit,
            queue: usize::MAX,
            wait_ms: f64::INFINITY,
            admitted: 0,
            admitted_peak: 0,
            waiting: VecDeque::new(),
            numbers: 0,
            shed: 0,
            timed_out: 0,
        }
    }

    /// Sets how many may wait; 0 turns away whoever finds no place.
    #[must_use]
    pub const fn queue(mut self, requests: usize) -> Self {
        self.queue = requests;
        self
    }

    /// Sets how long a request may wait, in milliseconds.
    #[must_use]
    pub const fn wait_ms(mut self, wait_ms: f64) -> Self {
        self.wait_ms = wait_ms;
        self
    }
}

impl<F> Admission<F>
where
    F: Front,
{
    fn admit(&mut self, request: Request, cx: &mut Context<'_>) {
        self.admitted += 1;
        self.admitted_peak = self.admitted_peak.max(self.admitted);
        let reports = cx.inner(|cx| self.inner.arrive(request, cx));
        self.reported(reports, cx);
    }

    fn reported(&mut self, reports: Vec<Signal>, cx: &mut Context<'_>) {
        for signal in reports {
            let leaves = matches!(signal, Signal::Done(_) | Signal::Rejected(_));
            cx.report(signal);
            if leaves {
                self.admitted -= 1;
                if self.admitted < self.limit
                    && let Some((_, next)) = self.waiting.pop_front()
                {
                    self.admit(next, cx);
                }
            }
        }
    }
}

// === impl Front for Admission ===

impl<F> Front for Admission<F>
where
    F: Front,
{
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>) {
        if self.admitted < self.limit {
            self.admit(request, cx);
        } else if self.waiting.len() >= self.queue {
            self.shed += 1;
            cx.reject(request);
        } else {
            self.numbers += 1;
            if self.wait_ms.is_finite() {
                cx.set_timer(cx.now_ms() + self.wait_ms, self.numbers);
            }
            self.waiting.push_back((self.numbers, request));
        }
    }

    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>) {
        let reports = cx.inner(|cx| self.inner.signal(server, signal, cx));
        self.reported(reports, cx);
    }

    fn timer(&mut self, due: Due, cx: &mut Context<'_>) {
        match due.token() {
            Ok(number) => {
                // Everybody waits equally long: whoever is due is the first, or is gone.
                if let Some((_, request)) = self.waiting.pop_front_if(|(at, _)| *at == number) {
                    self.timed_out += 1;
                    cx.reject(request);
                }
            }
            Err(due) => {
                let reports = cx.inner(|cx| self.inner.timer(due, cx));
                self.reported(reports, cx);
            }
        }
    }

    fn tally(&self, tally: &mut Tally) {
        tally.shed += self.shed;
        tally.timed_out += self.timed_out;
        tally.admitted_peak = tally.admitted_peak.max(self.admitted_peak as u64);
        self.inner.tally(tally);
    }
}
