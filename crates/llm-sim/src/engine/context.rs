//! What a front can do.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::Timer;
use crate::{
    server::{Completion, Load, Server, Signal},
    workload::Request,
};

/// A request that has left the system.
#[derive(Debug)]
pub(super) enum Outcome {
    Done(Completion),
    Rejected(Request),
}

/// The hands of a [`Front`](crate::front::Front), at one moment.
#[derive(Debug)]
pub struct Context<'a> {
    now_ms: f64,
    servers: &'a mut [Box<dyn Server>],
    timers: &'a mut BinaryHeap<Reverse<Timer>>,
    timers_set: &'a mut u64,
    outcomes: &'a mut Vec<Outcome>,
}

impl<'a> Context<'a> {
    pub(super) const fn new(
        now_ms: f64,
        servers: &'a mut [Box<dyn Server>],
        timers: &'a mut BinaryHeap<Reverse<Timer>>,
        timers_set: &'a mut u64,
        outcomes: &'a mut Vec<Outcome>,
    ) -> Self {
        Self {
            now_ms,
            servers,
            timers,
            timers_set,
            outcomes,
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

    /// Wakes the front at `at_ms` (now, if that is past) with this token.
    pub fn set_timer(&mut self, at_ms: f64, token: u64) {
        *self.timers_set += 1;
        let timer = Timer {
            at_ms: at_ms.max(self.now_ms),
            order: *self.timers_set,
            token,
        };
        self.timers.push(Reverse(timer));
    }

    /// Answers a request: it leaves the system now, whatever the times in `done` say.
    pub fn complete(&mut self, done: Completion) {
        self.outcomes.push(Outcome::Done(done));
    }

    /// Turns a request away: it leaves the system now.
    pub fn reject(&mut self, request: Request) {
        self.outcomes.push(Outcome::Rejected(request));
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
