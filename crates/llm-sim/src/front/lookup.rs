//! A cache seen only by its hit rate.

use std::collections::HashMap;

use super::{Front, Tally, without_server};
use crate::{
    engine::{Context, Due},
    rng::PyRandom,
    server::Signal,
    workload::Request,
};

/// A cache that answers a given share of requests, chosen at random; hits and misses pay the
/// look-up, and misses go on to the inner front.
///
/// It does not know what is asked: [`Cache`](super::Cache) does.
#[derive(Clone, Debug)]
pub struct Lookup<F> {
    inner: F,
    hit_rate: f64,
    lookup_ms: f64,
    random: PyRandom,
    pending: HashMap<u64, (Request, bool)>,
    next: u64,
    hits: u64,
}

impl<F> Lookup<F> {
    /// A cache with this hit rate and this time of a look-up, in milliseconds, before `inner`.
    #[must_use]
    pub fn new(inner: F, hit_rate: f64, lookup_ms: f64, seed: &str) -> Self {
        Self {
            inner,
            hit_rate,
            lookup_ms,
            random: PyRandom::from_text(&format!("lookup:{seed}")),
            pending: HashMap::new(),
            next: 0,
            hits: 0,
        }
    }
}

fn pass(reports: Vec<Signal>, cx: &mut Context<'_>) {
    reports.into_iter().for_each(|signal| cx.report(signal));
}

// === impl Front for Lookup ===

impl<F> Front for Lookup<F>
where
    F: Front,
{
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>) {
        let hit = self.random.uniform() < self.hit_rate;
        let token = self.next;
        self.next += 1;
        self.pending.insert(token, (request, hit));
        cx.set_timer(cx.now_ms() + self.lookup_ms, token);
    }

    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>) {
        pass(cx.inner(|cx| self.inner.signal(server, signal, cx)), cx);
    }

    fn timer(&mut self, due: Due, cx: &mut Context<'_>) {
        let token = match due.token() {
            Ok(token) => token,
            Err(due) => return pass(cx.inner(|cx| self.inner.timer(due, cx)), cx),
        };
        match self.pending.remove(&token) {
            Some((request, true)) => {
                self.hits += 1;
                let now_ms = cx.now_ms();
                cx.complete(without_server(request, now_ms, now_ms));
            }
            Some((request, false)) => {
                pass(cx.inner(|cx| self.inner.arrive(request, cx)), cx);
            }
            None => {}
        }
    }

    fn tally(&self, tally: &mut Tally) {
        tally.hits += self.hits;
        tally.misses += self.next - self.hits;
        self.inner.tally(tally);
    }
}
