//! A rate that grows.

/// How the rate grows from request to request, as in `vllm bench serve`: by the request's number, not by time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Strategy {
    /// By the same number of requests a second each time.
    Linear,
    /// By the same factor each time.
    Exponential,
}

/// A rate that grows over the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// How.
    pub strategy: Strategy,
    /// Requests a second at the first request; above 0.
    pub from: f64,
    /// Requests a second at the last one.
    pub to: f64,
}

impl Ramp {
    /// Requests a second at request `number` of `count`.
    #[must_use]
    pub fn rate(&self, number: usize, count: usize) -> f64 {
        let progress = number as f64 / count.saturating_sub(1).max(1) as f64;
        match self.strategy {
            Strategy::Linear => self.from + (self.to - self.from) * progress,
            Strategy::Exponential => self.from * (self.to / self.from).powf(progress),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_begins_and_ends_at_its_rates() {
        for (strategy, middle) in [(Strategy::Linear, 50.5), (Strategy::Exponential, 10.0)] {
            let ramp = Ramp {
                strategy,
                from: 1.0,
                to: 100.0,
            };
            let near = |number, rate: f64| (ramp.rate(number, 101) - rate).abs() < 1e-9;
            assert!(
                near(0, 1.0) && near(50, middle) && near(100, 100.0),
                "{strategy:?}"
            );
        }
    }
}
