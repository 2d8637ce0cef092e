//! The one event loop.
//!
//! Events are arrivals, timers and servers that want to be woken; at the same time they happen in
//! this order, and servers in the order of their numbers. Nothing else moves time.

mod context;
mod report;
mod timer;

use std::{cmp::Reverse, collections::BinaryHeap, fmt};

pub use self::{
    context::Context,
    report::{Counts, Report, Sink},
    timer::Due,
};
use self::{report::Recorder, timer::Timer};
use crate::{
    front::Front,
    metrics::Limits,
    server::{Server, ServerStats, Signal},
    workload::Request,
};

/// Servers behind a front.
pub struct Simulation<F> {
    servers: Vec<Box<dyn Server>>,
    front: F,
    limits: Limits,
    warm_up: u64,
}

impl<F> Simulation<F> {
    /// A simulation of these servers behind this front.
    #[must_use]
    pub fn new(servers: Vec<Box<dyn Server>>, front: F) -> Self {
        Self {
            servers,
            front,
            limits: Limits::default(),
            warm_up: 0,
        }
    }

    /// Sets what counts as a good request.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Leaves the first `requests` requests out of the latencies, not out of the counts.
    #[must_use]
    pub const fn warm_up(mut self, requests: u64) -> Self {
        self.warm_up = requests;
        self
    }

    /// The front.
    pub const fn front(&self) -> &F {
        &self.front
    }

    /// The counters of each server.
    pub fn server_stats(&self) -> impl Iterator<Item = &ServerStats> {
        self.servers.iter().map(|server| server.stats())
    }
}

impl<F> Simulation<F>
where
    F: Front,
{
    /// Runs until every request has left.
    pub fn run(&mut self, requests: impl IntoIterator<Item = Request>) -> Report {
        self.run_into(requests, &mut ())
    }

    /// Runs until every request has left, and shows each finished one to `sink`.
    pub fn run_into<S>(
        &mut self,
        requests: impl IntoIterator<Item = Request>,
        sink: &mut S,
    ) -> Report
    where
        S: Sink + ?Sized,
    {
        let mut arrivals = requests.into_iter().peekable();
        let mut timers = BinaryHeap::new();
        let mut timers_set = 0;
        let mut reports: Vec<Signal> = Vec::new();
        let mut signals: Vec<Signal> = Vec::new();
        let mut recorder = Recorder::new(self.limits, self.warm_up);
        loop {
            let arrival_ms = arrivals
                .peek()
                .map_or(f64::INFINITY, |request| request.arrival_ms);
            let timer_ms = timers
                .peek()
                .map_or(f64::INFINITY, |Reverse(timer): &Reverse<Timer>| timer.at_ms);
            let (mut wake_ms, mut awake, mut after_ms) = (f64::INFINITY, 0, f64::INFINITY);
            for (number, server) in self.servers.iter().enumerate() {
                let at_ms = server.next().unwrap_or(f64::INFINITY);
                if at_ms < wake_ms {
                    after_ms = wake_ms;
                    (wake_ms, awake) = (at_ms, number);
                } else {
                    after_ms = after_ms.min(at_ms);
                }
            }
            let now_ms = arrival_ms.min(timer_ms).min(wake_ms);
            if now_ms == f64::INFINITY {
                break;
            }
            let mut cx = Context::new(
                now_ms,
                &mut self.servers,
                &mut timers,
                &mut timers_set,
                &mut reports,
            );
            if arrival_ms <= now_ms {
                if let Some(request) = arrivals.next() {
                    recorder.arrived(&request);
                    self.front.arrive(request, &mut cx);
                }
            } else if timer_ms <= now_ms {
                if let Some(Reverse(timer)) = cx.pop_timer() {
                    self.front.timer(timer.due(), &mut cx);
                }
            } else {
                // Until something else is due, the server runs on: most steps report nothing.
                cx.run(awake, arrival_ms.min(timer_ms).min(after_ms), &mut signals);
                for signal in signals.drain(..) {
                    self.front.signal(awake, signal, &mut cx);
                }
            }
            let now_ms = cx.now_ms();
            for report in reports.drain(..) {
                recorder.left(now_ms, &report, sink);
            }
            debug_assert!(
                self.servers
                    .iter()
                    .all(|server| { server.load().outstanding() == 0 || server.next().is_some() }),
                "a server with work has something to do next"
            );
        }
        recorder.finish()
    }
}

impl<F> fmt::Debug for Simulation<F>
where
    F: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("servers", &self.servers.len())
            .field("front", &self.front)
            .finish_non_exhaustive()
    }
}
