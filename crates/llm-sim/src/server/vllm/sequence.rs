//! One sequence in a vLLM server.

use std::mem;

use crate::{kv::BlockTable, server::Completion, workload::Request};

/// Where a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Waiting,
    Running,
    /// Nowhere: the slot may be used again.
    Vacant,
}

#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) birth: u64,
    pub(super) request: Request,
    pub(super) place: Place,
    pub(super) table: BlockTable,
    /// Tokens whose keys and values are computed, or will be by the steps planned so far.
    pub(super) computed: u32,
    /// Output tokens that are out.
    pub(super) generated: u32,
    /// Output tokens that planned steps will bring.
    pub(super) in_flight: u32,
    pub(super) queued_ms: f64,
    pub(super) scheduled_ms: Option<f64>,
    pub(super) first_token_ms: f64,
    pub(super) last_token_ms: f64,
    pub(super) cached: u32,
    pub(super) preemptions: u32,
    charged: u32,
}

impl Sequence {
    pub(super) fn new(birth: u64, request: Request) -> Self {
        Self {
            birth,
            request,
            place: Place::Waiting,
            table: BlockTable::default(),
            computed: 0,
            generated: 0,
            in_flight: 0,
            queued_ms: 0.0,
            scheduled_ms: None,
            first_token_ms: 0.0,
            last_token_ms: 0.0,
            cached: 0,
            preemptions: 0,
            charged: 0,
        }
    }

    /// Keeps the memory of the block table of the slot's last owner.
    pub(super) fn with_table_of(mut self, vacant: &mut Self) -> Self {
        self.table = mem::take(&mut vacant.table);
        self
    }

    /// Prompt and output tokens whose values are known.
    pub(super) fn known_tokens(&self) -> u32 {
        self.request.prompt_tokens + self.generated
    }

    /// Tokens yet to compute until the next output token.
    pub(super) fn remaining(&self) -> u32 {
        (self.known_tokens() + self.in_flight).saturating_sub(self.computed)
    }

    /// Whether only its last token is yet to compute: the next step decodes.
    pub(super) fn decodes(&self) -> bool {
        self.remaining() <= 1 && self.computed >= self.request.prompt_tokens
    }

    /// Whether the tokens out and planned are all it will make.
    pub(super) fn complete(&self) -> bool {
        self.generated + self.in_flight >= self.request.output_tokens
    }

    /// Tokens served since the last charge.
    pub(super) fn uncharged(&mut self) -> u32 {
        let served = self.request.prompt_tokens + self.generated;
        served - mem::replace(&mut self.charged, served)
    }

    /// Gives up the seat: everything has to be computed again.
    pub(super) fn preempt(&mut self) {
        self.place = Place::Waiting;
        self.computed = 0;
        self.preemptions += 1;
    }

    /// Ends the sequence and vacates its slot.
    pub(super) fn retire(&mut self, now_ms: f64) -> Completion {
        self.place = Place::Vacant;
        self.birth = 0;
        Completion {
            queued_ms: self.queued_ms,
            scheduled_ms: self.scheduled_ms.unwrap_or(now_ms),
            first_token_ms: self.first_token_ms,
            finished_ms: now_ms,
            cached_tokens: self.cached,
            preemptions: self.preemptions,
            request: self.request.clone(),
        }
    }
}
