//! Balancing and nothing else.

use super::{Balance, Front};
use crate::{engine::Context, rng::PyRandom, server::Signal, workload::Request};

/// Sends each request to a server by a rule of balancing.
#[derive(Clone, Debug)]
pub struct Direct {
    balance: Balance,
    random: PyRandom,
    turn: u64,
}

impl Direct {
    /// A front from its rule and the seed of its choices.
    #[must_use]
    pub fn new(balance: Balance, seed: &str) -> Self {
        Self {
            balance,
            random: PyRandom::from_text(&format!("balance:{seed}")),
            turn: 0,
        }
    }
}

impl Default for Direct {
    fn default() -> Self {
        Self::new(Balance::default(), "")
    }
}

// === impl Front for Direct ===

impl Front for Direct {
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>) {
        let server = self
            .balance
            .pick(cx.servers(), self.turn, &mut self.random, |at| cx.load(at));
        self.turn += 1;
        cx.submit(server, request);
    }

    fn signal(&mut self, _server: usize, signal: Signal, cx: &mut Context<'_>) {
        match signal {
            Signal::FirstToken(_) => {}
            Signal::Done(done) => cx.complete(done),
            Signal::Rejected(request) => cx.reject(request),
        }
    }
}
