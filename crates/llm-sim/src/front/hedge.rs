//! Hedging: a second copy of what is late.

use std::collections::HashMap;

use super::{Balance, Front, Tally, balance::Picker};
use crate::{
    engine::{Context, Due},
    server::Signal,
    workload::Request,
};

/// When a second copy is sent, and how many may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hedge {
    after_ms: f64,
    budget: f64,
}

impl Hedge {
    /// A second copy of each request whose first token is not out after so long, in milliseconds.
    #[must_use]
    pub const fn after(after_ms: f64) -> Self {
        Self {
            after_ms,
            budget: 1.0,
        }
    }

    /// Sets the second copies sent at most, as a share of the requests so far.
    #[must_use]
    pub const fn budget(mut self, share: f64) -> Self {
        self.budget = share;
        self
    }
}

/// Sends each request to a server, and where its first token is late, within a budget, a copy to
/// another: the first of the two to speak is the answer, and the other is cancelled.
#[derive(Clone, Debug)]
pub struct Hedged {
    picker: Picker,
    hedge: Hedge,
    attempts: HashMap<u64, Attempt>,
    requests: u64,
    hedges: u64,
    won: u64,
    denied: u64,
}

/// A request and the servers that have it.
#[derive(Clone, Debug)]
struct Attempt {
    /// Kept for a copy, until the first token is out.
    request: Option<Request>,
    first: Option<usize>,
    second: Option<usize>,
}

impl Hedged {
    /// A front from its rules and the seed of its choices.
    #[must_use]
    pub fn new(balance: Balance, hedge: Hedge, seed: &str) -> Self {
        Self {
            picker: Picker::new(balance, seed),
            hedge,
            attempts: HashMap::new(),
            requests: 0,
            hedges: 0,
            won: 0,
            denied: 0,
        }
    }

    /// Cancels the copy that is not on `server`.
    fn settle(&mut self, server: usize, id: u64, cx: &mut Context<'_>) {
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        attempt.request = None;
        let other = if attempt.first == Some(server) {
            attempt.second.take()
        } else {
            self.won += 1;
            attempt.first.take()
        };
        if let Some(other) = other {
            cx.cancel(other, id);
        }
    }
}

// === impl Attempt ===

impl Attempt {
    fn is_at(&self, server: usize) -> bool {
        self.first == Some(server) || self.second == Some(server)
    }
}

// === impl Front for Hedged ===

impl Front for Hedged {
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>) {
        self.requests += 1;
        let server = self.picker.pick(cx.servers(), |at| cx.load(at));
        let attempt = Attempt {
            request: Some(request.clone()),
            first: Some(server),
            second: None,
        };
        self.attempts.insert(request.id, attempt);
        cx.set_timer(cx.now_ms() + self.hedge.after_ms, request.id);
        cx.submit(server, request);
    }

    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>) {
        let id = match &signal {
            Signal::FirstToken(id) | Signal::Token(id) => *id,
            Signal::Done(done) => done.request.id,
            Signal::Rejected(request) => request.id,
        };
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        if !attempt.is_at(server) {
            return;
        }
        match &signal {
            Signal::FirstToken(_) => self.settle(server, id, cx),
            Signal::Token(_) => {}
            Signal::Done(_) => {
                if attempt.request.is_some() {
                    // A server that says nothing before the end.
                    self.settle(server, id, cx);
                }
                self.attempts.remove(&id);
            }
            Signal::Rejected(_) => {
                let copies = [&mut attempt.first, &mut attempt.second];
                for copy in copies {
                    copy.take_if(|at| *at == server);
                }
                if attempt.first.or(attempt.second).is_some() {
                    return;
                }
                self.attempts.remove(&id);
            }
        }
        cx.report(signal);
    }

    fn timer(&mut self, due: Due, cx: &mut Context<'_>) {
        let Ok(id) = due.token() else {
            return;
        };
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        let (Some(first), None) = (attempt.first, attempt.second) else {
            return;
        };
        let Some(request) = attempt.request.as_ref() else {
            return;
        };
        if (self.hedges + 1) as f64 > self.hedge.budget * self.requests as f64 {
            self.denied += 1;
            return;
        }
        let another = self
            .picker
            .pick_another(cx.servers(), first, |at| cx.load(at));
        if let Some(second) = another {
            self.hedges += 1;
            attempt.second = Some(second);
            cx.submit(second, request.clone());
        }
    }

    fn tally(&self, tally: &mut Tally) {
        tally.dispatched += self.requests + self.hedges;
        tally.hedges += self.hedges;
        tally.hedges_won += self.won;
        tally.hedges_denied += self.denied;
    }
}
