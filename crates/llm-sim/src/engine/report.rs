//! What a run has shown.

use crate::{
    metrics::{Latency, Limits, Little},
    server::{Completion, Signal},
    workload::Request,
};

/// Requests by what became of them: `arrived = done + rejected` at the end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Arrived.
    pub arrived: u64,
    /// Answered.
    pub done: u64,
    /// Turned away.
    pub rejected: u64,
    /// Output tokens of the answered ones.
    pub output_tokens: u64,
    /// Prompt tokens of the answered ones.
    pub prompt_tokens: u64,
    /// Preemptions of the answered ones.
    pub preemptions: u64,
}

/// The summary of a run; its size does not depend on the number of requests.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Requests and tokens.
    pub counts: Counts,
    /// Latencies.
    pub latency: Latency,
    /// Little's law.
    pub little: Little,
    /// The first arrival, in milliseconds.
    pub first_arrival_ms: f64,
    /// The last departure, in milliseconds.
    pub last_departure_ms: f64,
}

impl Report {
    /// First arrival to last departure, in seconds.
    #[must_use]
    pub fn span_s(&self) -> f64 {
        (self.last_departure_ms - self.first_arrival_ms) / 1000.0
    }

    /// Answered requests a second.
    #[must_use]
    pub fn requests_per_s(&self) -> f64 {
        self.counts.done as f64 / self.span_s()
    }

    /// Output tokens a second.
    #[must_use]
    pub fn tokens_per_s(&self) -> f64 {
        self.counts.output_tokens as f64 / self.span_s()
    }
}

/// Sees each finished request.
pub trait Sink {
    /// A request has been answered.
    fn completed(&mut self, done: &Completion);
}

impl Sink for () {
    fn completed(&mut self, _done: &Completion) {}
}

impl Sink for Vec<Completion> {
    fn completed(&mut self, done: &Completion) {
        self.push(done.clone());
    }
}

impl<F> Sink for F
where
    F: FnMut(&Completion),
{
    fn completed(&mut self, done: &Completion) {
        self(done);
    }
}

/// Fills a report.
#[derive(Debug)]
pub(super) struct Recorder {
    report: Report,
    limits: Limits,
    warm_up: u64,
}

impl Recorder {
    pub(super) fn new(limits: Limits, warm_up: u64) -> Self {
        Self {
            report: Report::default(),
            limits,
            warm_up,
        }
    }

    pub(super) fn arrived(&mut self, request: &Request) {
        if self.report.counts.arrived == 0 {
            self.report.first_arrival_ms = request.arrival_ms;
        }
        self.report.counts.arrived += 1;
        self.report.little.enter(request.arrival_ms);
    }

    pub(super) fn left<S>(&mut self, now_ms: f64, signal: &Signal, sink: &mut S)
    where
        S: Sink + ?Sized,
    {
        let report = &mut self.report;
        match signal {
            // It goes on.
            Signal::FirstToken(_) | Signal::Token(_) => return,
            Signal::Done(done) => {
                report.counts.done += 1;
                report.counts.output_tokens += u64::from(done.request.output_tokens);
                report.counts.prompt_tokens += u64::from(done.request.prompt_tokens);
                report.counts.preemptions += u64::from(done.preemptions);
                report.little.leave(now_ms, done.request.arrival_ms);
                if done.request.id >= self.warm_up {
                    report.latency.add(done, &self.limits);
                }
                sink.completed(done);
            }
            Signal::Rejected(request) => {
                report.counts.rejected += 1;
                report.little.leave(now_ms, request.arrival_ms);
            }
        }
        report.last_departure_ms = report.last_departure_ms.max(now_ms);
    }

    pub(super) fn finish(self) -> Report {
        self.report
    }
}
