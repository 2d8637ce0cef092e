//! Which server takes a request.

use crate::{rng::PyRandom, server::Load};

/// A rule of balancing over the loads of the servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Balance {
    /// Any.
    Random,
    /// Each in turn.
    RoundRobin,
    /// The less loaded of two at random.
    TwoChoices,
    /// The one with the fewest outstanding requests; the first of equals.
    #[default]
    LeastOutstanding,
}

/// A rule, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Picker {
    balance: Balance,
    random: PyRandom,
    turn: u64,
}

impl Picker {
    pub(super) fn new(balance: Balance, seed: &str) -> Self {
        Self {
            balance,
            random: PyRandom::from_text(&format!("balance:{seed}")),
            turn: 0,
        }
    }

    /// Picks one of `servers` (at least one).
    pub(super) fn pick(&mut self, servers: usize, load: impl Fn(usize) -> Load) -> usize {
        let turn = self.turn;
        self.turn += 1;
        if servers <= 1 {
            return 0;
        }
        match self.balance {
            Balance::Random => self.random.below(servers),
            Balance::RoundRobin => (turn % servers as u64) as usize,
            Balance::TwoChoices => {
                let first = self.random.below(servers);
                let second = (first + 1 + self.random.below(servers - 1)) % servers;
                if load(second).outstanding() < load(first).outstanding() {
                    second
                } else {
                    first
                }
            }
            Balance::LeastOutstanding => (0..servers)
                .min_by_key(|at| load(*at).outstanding())
                .unwrap_or(0),
        }
    }

    /// Picks one of `servers` that is not `taken`; `None` where there is no other.
    pub(super) fn pick_another(
        &mut self,
        servers: usize,
        taken: usize,
        load: impl Fn(usize) -> Load,
    ) -> Option<usize> {
        let others = servers.checked_sub(1).filter(|others| *others > 0)?;
        let of = |at: usize| if at < taken { at } else { at + 1 };
        Some(of(self.pick(others, |at| load(of(at)))))
    }
}
