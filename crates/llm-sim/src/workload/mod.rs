//! What is asked, and when: requests, the laws of their lengths, arrivals, popularity.

mod arrivals;
mod length;
mod popularity;
mod request;

use std::sync::Arc;

pub(crate) use self::request::mix;
pub use self::{
    arrivals::{Arrivals, Clock},
    length::Length,
    popularity::Zipf,
    request::{Prefix, Request},
};
use crate::rng::PyRandom;

/// An endless stream of [`Request`]s drawn from laws; `take(n)` bounds it.
///
/// A request draws, in this order: its inter-arrival time, its prompt length, its output length,
/// and, where there is a popularity law, which prompt it is.
///
/// ```
/// use llm_sim::workload::{Arrivals, Length, Workload};
///
/// let mut chat = Workload::new("chat:0", Arrivals::poisson(4.0))
///     .prompt(Length::log_normal(512.0, 0.8, 16, 8192))
///     .output(Length::log_normal(180.0, 0.7, 1, 2048))
///     .shared_prefix(1, 200);
/// let first = chat.next().expect("a workload is endless");
/// assert!(first.arrival_ms > 0.0 && first.prompt_tokens >= 216);
/// ```
#[derive(Clone, Debug)]
pub struct Workload {
    random: PyRandom,
    clock: Clock,
    prompt: Length,
    output: Length,
    popularity: Option<Arc<Zipf>>,
    prefix: Option<(u64, u32)>,
    tenants: u32,
    next_id: u64,
}

impl Workload {
    /// A workload from a seed text and an arrival law, with the reference's lengths.
    #[must_use]
    pub fn new(seed: &str, arrivals: Arrivals) -> Self {
        Self {
            random: PyRandom::from_text(seed),
            clock: arrivals.start(),
            prompt: Length::SEED_PROMPT,
            output: Length::SEED_OUTPUT,
            popularity: None,
            prefix: None,
            tenants: 1,
            next_id: 0,
        }
    }

    /// The reference's workload: `random.Random(f"workload:{seed}:{rate}")`, Poisson arrivals at
    /// `rate_rps`.
    #[must_use]
    pub fn seed(seed: u64, rate_rps: f64) -> Self {
        Self::new(
            &format!("workload:{seed}:{rate_rps}"),
            Arrivals::poisson(rate_rps),
        )
    }

    /// Sets the law of prompt lengths, in tokens.
    #[must_use]
    pub fn prompt(mut self, prompt: Length) -> Self {
        self.prompt = prompt;
        self
    }

    /// Sets the law of output lengths, in tokens.
    #[must_use]
    pub fn output(mut self, output: Length) -> Self {
        self.output = output;
        self
    }

    /// Draws each request from a catalogue of prompts, so that requests repeat.
    ///
    /// Equal [`Request::key`]s mean the same question: it has the same lengths each time.
    #[must_use]
    pub fn popularity(mut self, zipf: Arc<Zipf>) -> Self {
        self.popularity = Some(zipf);
        self
    }

    /// Puts `tokens` shared prompt tokens of one of `groups` groups before every prompt.
    #[must_use]
    pub fn shared_prefix(mut self, groups: u64, tokens: u32) -> Self {
        self.prefix = (groups > 0 && tokens > 0).then_some((groups, tokens));
        self
    }

    /// Deals the requests out to `tenants` tenants, in turn.
    #[must_use]
    pub fn tenants(mut self, tenants: u32) -> Self {
        self.tenants = tenants.max(1);
        self
    }
}

// === impl Iterator for Workload ===

impl Iterator for Workload {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let arrival_ms = self.clock.next(&mut self.random);
        let mut prompt_tokens = self.prompt.draw(&mut self.random);
        let mut output_tokens = self.output.draw(&mut self.random);
        let id = self.next_id;
        self.next_id += 1;
        let mut key = id;
        if let Some(zipf) = &self.popularity {
            key = zipf.draw(&mut self.random);
            // The same question has the same lengths: they come from its own stream.
            let mut own = PyRandom::from_text(&format!("prompt:{key}"));
            prompt_tokens = self.prompt.draw(&mut own);
            output_tokens = self.output.draw(&mut own);
        }
        let prefix = match self.prefix {
            Some((groups, tokens)) => {
                prompt_tokens += tokens;
                let group = if groups > 1 {
                    self.random.below(groups as usize) as u64
                } else {
                    0
                };
                Prefix::Shared { group, tokens }
            }
            None => Prefix::Own,
        };
        Some(Request {
            id,
            arrival_ms,
            prompt_tokens,
            output_tokens,
            tenant: (id % u64::from(self.tenants)) as u32,
            priority: 0,
            key,
            prefix,
        })
    }
}
