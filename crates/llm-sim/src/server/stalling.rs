//! A server whose requests are sometimes held up.

use std::collections::VecDeque;

use super::{Load, Server, ServerStats, Signal};
use crate::{rng::PyRandom, workload::Request};

/// Holds a share of its requests back for a time before they reach the server within: a lost
/// packet, a slow disk, a cold cache. Each request is drawn on its own.
#[derive(Debug)]
pub struct Stalling<S> {
    inner: S,
    share: f64,
    stall_ms: f64,
    random: PyRandom,
    /// Each with the time it is let go, in milliseconds: in order, since all are held equally long.
    held: VecDeque<(f64, Request)>,
}

impl<S> Stalling<S> {
    /// Holds `share` of the requests to `inner` back for `stall_ms`, as drawn from `seed`.
    pub fn new(inner: S, share: f64, stall_ms: f64, seed: &str) -> Self {
        Self {
            inner,
            share,
            stall_ms,
            random: PyRandom::from_text(&format!("stall:{seed}")),
            held: VecDeque::new(),
        }
    }
}

// === impl Server for Stalling ===

impl<S> Server for Stalling<S>
where
    S: Server,
{
    fn submit(&mut self, now_ms: f64, request: Request) {
        if self.random.uniform() < self.share {
            self.held.push_back((now_ms + self.stall_ms, request));
        } else {
            self.inner.submit(now_ms, request);
        }
    }

    fn next(&self) -> Option<f64> {
        let held = self.held.front().map(|(at_ms, _)| *at_ms);
        match (held, self.inner.next()) {
            (Some(held), Some(inner)) => Some(held.min(inner)),
            (held, inner) => held.or(inner),
        }
    }

    fn wake(&mut self, now_ms: f64, signals: &mut Vec<Signal>) {
        while let Some((_, request)) = self.held.pop_front_if(|(at_ms, _)| *at_ms <= now_ms) {
            self.inner.submit(now_ms, request);
        }
        if self.inner.next().is_some_and(|at_ms| at_ms <= now_ms) {
            self.inner.wake(now_ms, signals);
        }
    }

    fn cancel(&mut self, now_ms: f64, id: u64) -> bool {
        let before = self.held.len();
        self.held.retain(|(_, request)| request.id != id);
        self.held.len() < before || self.inner.cancel(now_ms, id)
    }

    fn load(&self) -> Load {
        let load = self.inner.load();
        Load {
            waiting: load.waiting + self.held.len() as u32,
            ..load
        }
    }

    fn stats(&self) -> &ServerStats {
        self.inner.stats()
    }
}
