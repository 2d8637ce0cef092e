//! Servers: a scheduler over a cost model.
//!
//! | server | what it does |
//! |---|---|
//! | [`Static`] | a batch runs until its longest member is done; with one seat, a plain queue |
//! | [`Continuous`] | sequences join and leave between steps |
//! | [`Vllm`] | vLLM V1: token budget, chunked prefill, paged KV, preemption, prefix caching |
//! | [`Stalling`] | another one, whose requests are sometimes held up |
//!
//! A server is a state machine: [`submit`](Server::submit) hands it work, [`next`](Server::next)
//! says when it wants to be woken, [`wake`](Server::wake) does what is due and reports. It never
//! reads a clock.

mod continuous;
mod order;
mod stalling;
mod r#static;
mod stats;
mod vllm;

pub use self::{
    continuous::Continuous,
    order::Order,
    stalling::Stalling,
    r#static::{Padding, Static},
    stats::ServerStats,
    vllm::{Mixing, Pipeline, Stop, Vllm, VllmConfig},
};
use crate::workload::Request;

/// A simulated server.
pub trait Server: std::fmt::Debug + Send {
    /// Takes a request at `now_ms`.
    fn submit(&mut self, now_ms: f64, request: Request);

    /// When something happens next, in milliseconds; `None` while idle.
    fn next(&self) -> Option<f64>;

    /// Does what is due at `now_ms` and appends what happened, in order.
    fn wake(&mut self, now_ms: f64, signals: &mut Vec<Signal>);

    /// Gives a request up: true where it was there. Its resources are free after the current step.
    fn cancel(&mut self, now_ms: f64, id: u64) -> bool;

    /// What a balancer can see.
    fn load(&self) -> Load;

    /// What has happened so far.
    fn stats(&self) -> &ServerStats;
}

/// What a server reports.
#[derive(Clone, Debug)]
pub enum Signal {
    /// The first token of this request is out.
    FirstToken(u64),
    /// A later token of this request is out; only from servers that are told to say so.
    Token(u64),
    /// A request is done.
    Done(Completion),
    /// A request can never fit in this server's memory.
    Rejected(Request),
}

/// A finished request and its times, in milliseconds.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The request.
    pub request: Request,
    /// When the server took it in: at once, or where the server looks only between two steps, at
    /// the end of the step.
    pub queued_ms: f64,
    /// When it first took a seat.
    pub scheduled_ms: f64,
    /// When its first token was out.
    pub first_token_ms: f64,
    /// When its last token was out.
    pub finished_ms: f64,
    /// Prompt tokens found in the prefix cache at the first admission.
    pub cached_tokens: u32,
    /// Times it was preempted.
    pub preemptions: u32,
}

impl Completion {
    /// Arrival to last token, in milliseconds.
    #[must_use]
    pub fn e2e_ms(&self) -> f64 {
        self.finished_ms - self.request.arrival_ms
    }

    /// Arrival to first token, in milliseconds.
    #[must_use]
    pub fn ttft_ms(&self) -> f64 {
        self.first_token_ms - self.request.arrival_ms
    }

    /// Time a token after the first, in milliseconds; `None` for a single token.
    #[must_use]
    pub fn tpot_ms(&self) -> Option<f64> {
        let rest = self
            .request
            .output_tokens
            .checked_sub(1)
            .filter(|rest| *rest > 0)?;
        Some((self.finished_ms - self.first_token_ms) / f64::from(rest))
    }
}

/// What a balancer can see of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Requests without a seat.
    pub waiting: u32,
    /// Requests with a seat.
    pub running: u32,
    /// KV blocks in use; 0 where memory is not modelled.
    pub kv_used: u32,
    /// KV blocks there are; 0 where memory is not modelled.
    pub kv_total: u32,
}

impl Load {
    /// Requests in the server.
    #[must_use]
    pub const fn outstanding(&self) -> u32 {
        self.waiting + self.running
    }
}
