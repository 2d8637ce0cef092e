//! A simulated server, run in real time.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use llm_sim::server::{Server, Signal};
use llm_sim::workload::{Prefix, Request};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::request::Call;
use super::seats::Seats;
use super::service::Shared;

/// A [simulated server](llm_sim::server) that runs in real time: what it would do after so many milliseconds, it does then.
///
/// Scheduler and cost model are the simulation's own, and so is the time: a step ends when the model says, whoever wakes late for
/// it, so that lateness does not add up. Nothing runs by itself: whoever waits for a token drives the server up to the present.
///
/// The server has to [report every token](llm_sim::server::Continuous::report_tokens), as those of
/// [presets](llm_sim::cost::Preset::server) do. Clones share it.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    state: Mutex<State>,
    speed: f64,
}

struct State {
    server: Box<dyn Server>,
    /// When the simulated time was 0: the first request.
    started: Option<Instant>,
    sequences: HashMap<u64, Progress>,
    next_id: u64,
    signals: Vec<Signal>,
}

/// What has come of a sequence.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    tokens: u32,
    is_done: bool,
    is_refused: bool,
}

/// What whoever waits for a token of a sequence learns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token {
    Out,
    /// The sequence can never fit in the server's memory.
    Refused,
    /// Ask again then.
    NotBefore(Option<Instant>),
}

// === impl Engine ===

impl Engine {
    /// Runs a server in real time.
    #[must_use]
    pub fn new(server: Box<dyn Server>) -> Self {
        Self::with_speed(server, 1.0)
    }

    /// Runs a server `speed` times faster than real time.
    #[must_use]
    pub fn with_speed(server: Box<dyn Server>, speed: f64) -> Self {
        let state = State {
            server,
            started: None,
            sequences: HashMap::new(),
            next_id: 0,
            signals: Vec::new(),
        };
        Self {
            inner: Arc::new(Inner {
                state: Mutex::new(state),
                speed: speed.clamp(1e-3, 1e6),
            }),
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

// === impl Shared ===

impl Shared {
    /// Seats for a call, one for each of its answers; `None` where the call, or the stub, has a time of its own.
    pub(super) fn seats(&self, call: &Call) -> Option<Seats> {
        let engine = self.engine.as_ref()?;
        if call.script.delay.is_some() || call.script.pace.is_some() {
            return None;
        }
        let choices = call.choices(&self.settings);
        let n = call.n.max(1) as usize;
        let tokens = |place: usize| choices.get(place).map_or(1, |choice| choice.tokens.max(1));
        let sequences = call.prompts.iter().enumerate().flat_map(|(at, prompt)| {
            let prompt_tokens = u32::try_from(prompt.tokens).unwrap_or(u32::MAX);
            (0..n).map(move |number| (prompt_tokens, tokens(at * n + number)))
        });
        let sequences = sequences.map(|(prompt_tokens, output_tokens)| {
            let id = engine.inner.submit(prompt_tokens, output_tokens);
            (id, output_tokens)
        });
        Some(Seats::new(engine.inner.clone(), sequences.collect()))
    }
}

// === impl Inner ===

impl Inner {
    fn submit(&self, prompt_tokens: u32, output_tokens: u32) -> u64 {
        let mut state = self.state.lock();
        let now_ms = self.catch_up(&mut state);
        let id = state.next_id;
        state.next_id += 1;
        state.sequences.insert(id, Progress::default());
        let request = Request {
            id,
            arrival_ms: now_ms,
            prompt_tokens,
            output_tokens,
            tenant: 0,
            priority: 0,
            key: id,
            prefix: Prefix::Own,
        };
        state.server.submit(now_ms, request);
        id
    }

    /// Whether the first `tokens` tokens of a sequence are out.
    pub(super) fn look(&self, id: u64, tokens: u32) -> Token {
        let mut state = self.state.lock();
        self.catch_up(&mut state);
        let progress = state.sequences.get(&id).copied().unwrap_or_default();
        if progress.is_refused {
            return Token::Refused;
        }
        if progress.is_done || progress.tokens >= tokens {
            return Token::Out;
        }
        let at = state
            .server
            .next()
            .zip(state.started)
            .and_then(|(at_ms, started)| {
                let after = Duration::try_from_secs_f64(at_ms / 1000.0 / self.speed).ok()?;
                started.checked_add(after)
            });
        Token::NotBefore(at)
    }

    /// Forgets a sequence; whatever is left to do for it is not done.
    pub(super) fn leave(&self, id: u64) {
        let mut state = self.state.lock();
        let now_ms = self.catch_up(&mut state);
        if state
            .sequences
            .remove(&id)
            .is_some_and(|progress| !progress.is_done)
        {
            state.server.cancel(now_ms, id);
        }
    }

    /// Does what the server had to do until now; the present, in simulated milliseconds.
    ///
    /// Each step is woken at its own time, not at the present: a late wake moves nothing.
    fn catch_up(&self, state: &mut State) -> f64 {
        let now = Instant::now();
        let started = *state.started.get_or_insert(now);
        // Correctness: a deadline is this time in whole nanoseconds. Were it taken for the future by a fraction of one, whoever has
        // waited for it would wait for it again, for ever while time is paused.
        let nanosecond = 1e-6 * self.speed;
        let now_ms = now.duration_since(started).as_secs_f64() * 1000.0 * self.speed + nanosecond;
        while let Some(at_ms) = state.server.next().filter(|at_ms| *at_ms <= now_ms) {
            state.server.wake(at_ms, &mut state.signals);
            for signal in state.signals.drain(..) {
                let (id, note): (u64, fn(&mut Progress)) = match signal {
                    Signal::FirstToken(id) | Signal::Token(id) => (id, |seen| seen.tokens += 1),
                    Signal::Done(done) => (done.request.id, |seen| seen.is_done = true),
                    Signal::Rejected(request) => (request.id, |seen| seen.is_refused = true),
                };
                if let Some(progress) = state.sequences.get_mut(&id) {
                    note(progress);
                }
            }
        }
        now_ms
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").finish_non_exhaustive()
    }
}
