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

impl Balance {
    /// Picks one of `servers` (at least one); `turn` counts the picks.
    pub(super) fn pick(
        self,
        servers: usize,
        turn: u64,
        random: &mut PyRandom,
        load: impl Fn(usize) -> Load,
    ) -> usize {
        if servers <= 1 {
            return 0;
        }
        match self {
            Self::Random => random.below(servers),
            Self::RoundRobin => (turn % servers as u64) as usize,
            Self::TwoChoices => {
                let first = random.below(servers);
                let second = (first + 1 + random.below(servers - 1)) % servers;
                if load(second).outstanding() < load(first).outstanding() {
                    second
                } else {
                    first
                }
            }
            Self::LeastOutstanding => (0..servers)
                .min_by_key(|at| load(*at).outstanding())
                .unwrap_or(0),
        }
    }
}
