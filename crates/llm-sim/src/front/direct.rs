//! Balancing and nothing else.

use super::{Balance, Front, Tally, balance::Picker};
use crate::{engine::Context, server::Signal, workload::Request};

/// Sends each request to a server by a rule of balancing.
#[derive(Clone, Debug)]
pub struct Direct {
    picker: Picker,
    dispatched: u64,
}

impl Direct {
    /// A front from its rule and the seed of its choices.
    #[must_use]
    pub fn new(balance: Balance, seed: &str) -> Self {
        Self {
            picker: Picker::new(balance, seed),
            dispatched: 0,
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
        self.dispatched += 1;
        let server = self.picker.pick(cx.servers(), |at| cx.load(at));
        cx.submit(server, request);
    }

    fn signal(&mut self, _server: usize, signal: Signal, cx: &mut Context<'_>) {
        cx.report(signal);
    }

    fn tally(&self, tally: &mut Tally) {
        tally.dispatched += self.dispatched;
    }
}
