//! The experts of one mixture-of-experts layer, in microseconds.

use super::{Csv, surface::Surface};
use crate::error::Error;

/// The time of the experts by tokens and by how many different experts the tokens go to.
#[derive(Clone, Debug)]
pub(super) struct Experts {
    time: Surface,
    /// Experts a token goes to.
    per_token: f64,
    /// Experts there are.
    all: f64,
}

impl Experts {
    /// Reads `ep,tokens,activated_experts,time_us`; only rows without expert parallelism count.
    pub(super) fn parse(csv: &Csv<'_>) -> Result<Self, Error> {
        let mut time = Surface::default();
        let (mut per_token, mut all) = (f64::INFINITY, 0.0_f64);
        for row in csv.rows() {
            if row.number("ep")? != 1.0 {
                continue;
            }
            let (tokens, experts) = (row.number("tokens")?, row.number("activated_experts")?);
            // A single token goes to the fewest experts that the table has.
            per_token = per_token.min(experts);
            all = all.max(experts);
            time.add(tokens as u32, experts as u32, row.number("time_us")?);
        }
        if all == 0.0 {
            return Err(Error::new("the table of experts is empty"));
        }
        Ok(Self {
            time: time.sorted(),
            per_token,
            all,
        })
    }

    /// The time for `tokens` tokens whose experts are drawn evenly: on average
    /// E·(1 − (1 − k/E)ⁿ) different ones.
    pub(super) fn at(&self, tokens: f64) -> f64 {
        let missed = (1.0 - self.per_token / self.all).powf(tokens);
        self.time.at(tokens, self.all * (1.0 - missed))
    }
}
