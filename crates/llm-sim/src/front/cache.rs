//! The response cache.

use std::collections::HashMap;

use super::{Front, Store, Tally, without_server};
use crate::{
    engine::{Context, Due},
    rng::PyRandom,
    server::Signal,
    workload::Request,
};

/// What a cache holds, and what its look-ups cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheConfig {
    entries: usize,
    ttl_ms: f64,
    semantic: f64,
    embed_ms: f64,
}

impl Default for CacheConfig {
    /// Any number of answers for ever, exact matches only.
    fn default() -> Self {
        Self {
            entries: usize::MAX,
            ttl_ms: f64::INFINITY,
            semantic: 0.0,
            embed_ms: 0.0,
        }
    }
}

impl CacheConfig {
    /// Sets how many answers it holds.
    #[must_use]
    pub const fn entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// Sets how long an answer is served, in milliseconds.
    #[must_use]
    pub const fn ttl_ms(mut self, ttl_ms: f64) -> Self {
        self.ttl_ms = ttl_ms;
        self
    }

    /// Sets the share of exact misses that a similar question's answer serves, and the time of an
    /// embedding, in milliseconds, which each exact miss pays.
    ///
    /// Which ones is drawn at random: what questions mean is not simulated.
    #[must_use]
    pub const fn semantic(mut self, share: f64, embed_ms: f64) -> Self {
        self.semantic = share;
        self.embed_ms = embed_ms;
        self
    }
}

/// Answers equal questions of the same tenant from memory, at once; keeps what `inner` answers.
#[derive(Clone, Debug)]
pub struct Cache<F> {
    inner: F,
    config: CacheConfig,
    store: Store,
    random: PyRandom,
    /// Whose embedding is being computed, and whether it will find something.
    embedding: HashMap<u64, (Request, bool)>,
    /// When the requests within were asked.
    began_ms: HashMap<u64, f64>,
    hits: u64,
    semantic_hits: u64,
    misses: u64,
    oldest_hit_ms: f64,
}

impl<F> Cache<F> {
    /// A cache before `inner`, from its settings and the seed of what is similar.
    #[must_use]
    pub fn new(inner: F, config: CacheConfig, seed: &str) -> Self {
        Self {
            inner,
            store: Store::new(config.entries, config.ttl_ms),
            config,
            random: PyRandom::from_text(&format!("semantic:{seed}")),
            embedding: HashMap::new(),
            began_ms: HashMap::new(),
            hits: 0,
            semantic_hits: 0,
            misses: 0,
            oldest_hit_ms: 0.0,
        }
    }

    fn reported(&mut self, reports: Vec<Signal>, cx: &mut Context<'_>) {
        for signal in reports {
            match &signal {
                Signal::FirstToken(_) | Signal::Token(_) => {}
                Signal::Done(done) => {
                    let Request {
                        id, tenant, key, ..
                    } = done.request;
                    if let Some(began_ms) = self.began_ms.remove(&id) {
                        self.store.put(tenant, key, began_ms, cx.now_ms());
                    }
                }
                Signal::Rejected(request) => {
                    self.began_ms.remove(&request.id);
                }
            }
            cx.report(signal);
        }
    }
}

impl<F> Cache<F>
where
    F: Front,
{
    fn miss(&mut self, request: Request, cx: &mut Context<'_>) {
        self.misses += 1;
        let reports = cx.inner(|cx| self.inner.arrive(request, cx));
        self.reported(reports, cx);
    }
}

/// An answer from memory.
fn hit(request: Request, cx: &mut Context<'_>) {
    let now_ms = cx.now_ms();
    cx.report(Signal::FirstToken(request.id));
    cx.complete(without_server(request, now_ms, now_ms));
}

// === impl Front for Cache ===

impl<F> Front for Cache<F>
where
    F: Front,
{
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>) {
        let now_ms = cx.now_ms();
        if let Some(age_ms) = self.store.get(request.tenant, request.key, now_ms) {
            self.hits += 1;
            self.oldest_hit_ms = self.oldest_hit_ms.max(age_ms);
            return hit(request, cx);
        }
        self.began_ms.insert(request.id, now_ms);
        if self.config.semantic <= 0.0 {
            return self.miss(request, cx);
        }
        let similar = !self.store.is_empty() && self.random.uniform() < self.config.semantic;
        cx.set_timer(now_ms + self.config.embed_ms, request.id);
        self.embedding.insert(request.id, (request, similar));
    }

    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>) {
        let reports = cx.inner(|cx| self.inner.signal(server, signal, cx));
        self.reported(reports, cx);
    }

    fn timer(&mut self, due: Due, cx: &mut Context<'_>) {
        match due.token() {
            Ok(id) => match self.embedding.remove(&id) {
                Some((request, true)) => {
                    self.semantic_hits += 1;
                    self.began_ms.remove(&id);
                    hit(request, cx);
                }
                Some((request, false)) => self.miss(request, cx),
                None => {}
            },
            Err(due) => {
                let reports = cx.inner(|cx| self.inner.timer(due, cx));
                self.reported(reports, cx);
            }
        }
    }

    fn tally(&self, tally: &mut Tally) {
        tally.hits += self.hits;
        tally.semantic_hits += self.semantic_hits;
        tally.misses += self.misses;
        tally.expired += self.store.expired;
        tally.evicted += self.store.evicted;
        tally.oldest_hit_ms = tally.oldest_hit_ms.max(self.oldest_hit_ms);
        self.inner.tally(tally);
    }
}
