//! What a front can do.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::timer::Timer;
use crate::{
    server::{Completion, Load, Server, Signal},
    workload::Request,
};

/// The hands of a [`Front`](crate::front::Front), at one moment.
///
/// What a front [reports](Context::report) goes to the front around it, in the words that a server
/// uses; what the outermost one reports leaves the system.
#[derive(Debug)]
pub struct Context<'a> {
    now_ms: f64,
    servers: &'a mut [Box<dyn Server>],
    timers: &'a mut BinaryHeap<Reverse<Timer>>,
    timers_set: &'a mut u64,
    reports: &'a mut Vec<Signal>,
    /// How many fronts are around the one that acts.
    depth: u32,
}

impl<'a> Context<'a> {
    pub(super) const fn new(
        now_ms: f64,
        servers: &'a mut [Box<dyn Server>],
        timers: &'a mut BinaryHeap<Reverse<Timer>>,
        timers_set: &'a mut u64,
        reports: &'a mut Vec<Signal>,
    ) -> Self {
        Self {
            now_ms,
            servers,
            timers,
            timers_set,
            reports,
            depth: 0,
        }
    }

    /// The time, in milliseconds.
    #[must_use]
    pub const fn now_ms(&self) -> f64 {
        self.now_ms
    }

    /// How many servers there are.
    #[must_use]
    pub const fn servers(&self) -> usize {
        self.servers.len()
    }

    /// What server number `server` has to do.
    #[must_use]
    pub fn load(&self, server: usize) -> Load {
        self.servers
            .get(server)
            .map(|server| server.load())
            .unwrap_or_default()
    }

    /// Hands a request to a server; a server that is not there rejects it.
    pub fn submit(&mut self, server: usize, request: Request) {
        match self.servers.get_mut(server) {
            Some(server) => server.submit(self.now_ms, request),
            None => self.reject(request),
        }
    }

    /// Takes a request back from a server; true where it was there.
    pub fn cancel(&mut self, server: usize, id: u64) -> bool {
        let now_ms = self.now_ms;
        self.servers
            .get_mut(server)
            .is_some_and(|server| server.cancel(now_ms, id))
    }

    /// Wakes the front that asks at `at_ms` (now, if that is past) with this token.
    ///
    /// Tokens are the front's own: those of the fronts around it and within it are others.
    pub fn set_timer(&mut self, at_ms: f64, token: u64) {
        *self.timers_set += 1;
        let timer = Timer {
            at_ms: at_ms.max(self.now_ms),
            order: *self.timers_set,
            depth: self.depth,
            token,
        };
        self.timers.push(Reverse(timer));
    }

    /// Runs a front within this one, and takes what it reports, in order.
    pub fn inner(&mut self, run: impl FnOnce(&mut Self)) -> Vec<Signal> {
        let before = self.reports.len();
        self.depth += 1;
        run(self);
        self.depth -= 1;
        self.reports.drain(before..).collect()
    }

    /// Tells whoever is around this front.
    pub fn report(&mut self, signal: Signal) {
        self.reports.push(signal);
    }

    /// Answers a request: it leaves the front now, whatever the times in `done` say.
    pub fn complete(&mut self, done: Completion) {
        self.report(Signal::Done(done));
    }

    /// Turns a request away: it leaves the front now.
    pub fn reject(&mut self, request: Request) {
        self.report(Signal::Rejected(request));
    }

    pub(super) fn pop_timer(&mut self) -> Option<Reverse<Timer>> {
        self.timers.pop()
    }

    /// Wakes a server now, and again while it reports nothing and is due before `until_ms`.
    pub(super) fn run(&mut self, server: usize, until_ms: f64, signals: &mut Vec<Signal>) {
        let Some(server) = self.servers.get_mut(server) else {
            return;
        };
        loop {
            server.wake(self.now_ms, signals);
            match server.next() {
                Some(next_ms) if signals.is_empty() && next_ms < until_ms => {
                    self.now_ms = next_ms;
                }
                _ => break,
            }
        }
    }
}
