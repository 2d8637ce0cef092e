//! A cache seen only by its hit rate.

use std::collections::HashMap;

use super::Front;
use crate::{
    engine::Context,
    rng::PyRandom,
    server::{Completion, Signal},
    workload::Request,
};

/// A cache that answers a given share of requests, chosen at random; hits and misses pay the
/// look-up, and misses go on to the inner front.
///
/// Timers are its own: the inner front must not set any.
///
/// It does not know what is asked: for that, the popularity of the prompts has to be simulated.
#[derive(Clone, Debug)]
pub struct Lookup<F> {
    inner: F,
    hit_rate: f64,
    lookup_ms: f64,
    random: PyRandom,
    pending: HashMap<u64, (Request, bool)>,
    next: u64,
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
        }
    }
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
        self.inner.signal(server, signal, cx);
    }

    fn timer(&mut self, token: u64, cx: &mut Context<'_>) {
        let Some((request, hit)) = self.pending.remove(&token) else {
            return;
        };
        if hit {
            let now_ms = cx.now_ms();
            cx.complete(Completion {
                queued_ms: now_ms,
                scheduled_ms: now_ms,
                first_token_ms: now_ms,
                finished_ms: now_ms,
                cached_tokens: request.prompt_tokens,
                preemptions: 0,
                request,
            });
        } else {
            self.inner.arrive(request, cx);
        }
    }
}
