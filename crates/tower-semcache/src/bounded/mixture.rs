/// How the bets are spread: as a share of the largest admissible λ, with a weight.
///
/// Large λ give the small bound of the beginning, small ones the slow growth later. Fixed before
/// any coin is seen, as the proof asks.
const BETS: [(f64, f64); 9] = [
    (0.9, 3.0),
    (0.7, 3.0),
    (0.5, 3.0),
    (0.35, 2.0),
    (0.25, 2.0),
    (0.125, 1.0),
    (0.0625, 1.0),
    (0.031_25, 0.5),
    (0.015_625, 0.5),
];

/// The supermartingales of one segment, one a λ, and the bound that follows from them.
///
/// `exp(λ V - K(λ))` with `K(λ)` the sum of `κ_λ(q)` over the audits that found a wrong answer, or
/// have not found anything yet.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    bets: [Bet; BETS.len()],
    judge_misses: f64,
    /// ln(1 / α).
    level: f64,
    /// The least audit rate: the range of λ was computed with it.
    floor: f64,
    bound: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bet {
    lambda: f64,
    /// The logarithm of the weight.
    weight: f64,
    /// The part of K that is there to stay.
    caught: f64,
    /// The part of K of audits whose judgement is awaited.
    pending: f64,
}

// === impl Mixture ===

impl Mixture {
    /// `floor` in (0, 1), `judge_misses` in [0, 1), `alpha` in (0, 1).
    pub(super) fn new(floor: f64, judge_misses: f64, alpha: f64) -> Self {
        // κ is finite for 0 < λ < ln((1 - qβ) / (1 - q)), which grows with q.
        let largest = ((1.0 - floor * judge_misses) / (1.0 - floor)).ln();
        let total: f64 = BETS.iter().map(|(_, weight)| weight).sum();
        let bets = BETS.map(|(share, weight)| Bet {
            lambda: share * largest,
            weight: (weight / total).ln(),
            caught: 0.0,
            pending: 0.0,
        });
        let mut mixture = Self {
            bets,
            judge_misses,
            level: -alpha.ln(),
            floor,
            bound: 0,
        };
        mixture.solve();
        mixture
    }

    /// The largest number of wrong answers served that the coins leave credible.
    pub(super) const fn bound(&self) -> u64 {
        self.bound
    }

    /// The rate that an audit asked for at `rate` is held at: within the range λ was chosen for.
    pub(super) fn rate(&self, rate: f64) -> f64 {
        // Anything that is no number means: audit for certain.
        if rate.is_nan() {
            1.0
        } else {
            rate.clamp(self.floor, 1.0)
        }
    }

    /// An audit at `rate` begins. It counts as one that found a wrong answer until it is settled.
    pub(super) fn begin(&mut self, rate: f64) {
        let misses = self.judge_misses;
        for bet in &mut self.bets {
            bet.pending += bet.kappa(rate, misses);
        }
        self.solve();
    }

    /// A pending audit found the answers the same. `last`: none is pending any more.
    pub(super) fn acquit(&mut self, rate: f64, last: bool) {
        self.settle(rate, last);
        self.solve();
    }

    /// A pending audit found a difference, or failed. The bound stays where it is.
    pub(super) fn convict(&mut self, rate: f64, last: bool) {
        let misses = self.judge_misses;
        for bet in &mut self.bets {
            bet.caught += bet.kappa(rate, misses);
        }
        self.settle(rate, last);
        self.solve();
    }

    /// An audit that begins and finds a difference at once.
    pub(super) fn caught(&mut self, rate: f64) {
        let misses = self.judge_misses;
        for bet in &mut self.bets {
            bet.caught += bet.kappa(rate, misses);
        }
        self.solve();
    }

    fn settle(&mut self, rate: f64, last: bool) {
        let misses = self.judge_misses;
        for bet in &mut self.bets {
            // Exactly zero when nothing is pending: rounding must not add up over a life.
            bet.pending = if last {
                0.0
            } else {
                (bet.pending - bet.kappa(rate, misses)).max(0.0)
            };
        }
    }

    /// Finds the largest whole v with Σ w_i exp(λ_i v - K_i) <= 1/α.
    ///
    /// The logarithm of the sum is convex and increasing in v: Newton's steps from the right of the
    /// root never cross it, so that whatever they stop at is a bound. About ten steps of nine
    /// exponentials.
    fn solve(&mut self) {
        let mut v = self.start();
        for _ in 0..64 {
            let (value, slope) = self.log_sum(v);
            let step = (value - self.level) / slope;
            // A hundredth of an answer is nothing next to the rounding to whole ones.
            if step.is_nan() || step < 1e-2 {
                break;
            }
            v -= step;
        }
        // Rounding errors are of the order 1e-12; this keeps an exact whole number from falling.
        self.bound = (v.max(0.0) + 1e-6).floor() as u64;
    }

    /// A point to the right of the root: no single term may exceed 1/α.
    fn start(&self) -> f64 {
        let alone = self
            .bets
            .iter()
            .map(|bet| (self.level - bet.weight + bet.k()) / bet.lambda);
        alone.fold(f64::INFINITY, f64::min)
    }

    /// The logarithm of the sum at v, and its derivative.
    fn log_sum(&self, v: f64) -> (f64, f64) {
        let exponent = |bet: &Bet| bet.weight + bet.lambda * v - bet.k();
        let top = self.bets.iter().map(exponent).fold(f64::MIN, f64::max);
        let (mut sum, mut slope) = (0.0, 0.0);
        for bet in &self.bets {
            let term = (exponent(bet) - top).exp();
            sum += term;
            slope += term * bet.lambda;
        }
        (top + sum.ln(), slope / sum)
    }
}

#[cfg(feature = "serde")]
impl Mixture {
    /// What has to be kept to go on later. Pending audits will never be settled then: they are
    /// kept as failed.
    pub(super) fn sums(&self) -> Vec<f64> {
        self.bets.iter().map(Bet::k).collect()
    }

    /// Takes kept sums back. `None` when they cannot be sums of this mixture.
    pub(super) fn resume(mut self, sums: &[f64]) -> Option<Self> {
        if sums.len() != self.bets.len() {
            return None;
        }
        for (bet, sum) in self.bets.iter_mut().zip(sums) {
            if !(sum.is_finite() && *sum >= 0.0) {
                return None;
            }
            bet.caught = *sum;
        }
        self.solve();
        Some(self)
    }
}

// === impl Bet ===

impl Bet {
    fn k(&self) -> f64 {
        self.caught + self.pending
    }

    /// κ_λ(q) = ln[ q(1-β) / (1 - qβ - (1-q)e^λ) ], never below zero.
    fn kappa(&self, rate: f64, judge_misses: f64) -> f64 {
        let caught = rate * (1.0 - judge_misses);
        let rest = 1.0 - rate * judge_misses - (1.0 - rate) * self.lambda.exp();
        (caught / rest).ln().max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What one wrong would-be hit multiplies the process by, on average.
    fn mean(bet: &Bet, rate: f64, bound: f64, misses: f64) -> f64 {
        let kappa = bet.kappa(rate, bound);
        (1.0 - rate) * bet.lambda.exp() + rate * misses + rate * (1.0 - misses) * (-kappa).exp()
    }

    proptest! {
        #[test]
        fn a_wrong_would_be_hit_never_raises_the_process_on_average(
            floor in 0.01..0.9f64, more in 0.0..1.0f64, bound in 0.0..0.9f64, share in 0.0..1.0f64,
        ) {
            let rate = floor + (1.0 - floor) * more;
            for bet in Mixture::new(floor, bound, 0.05).bets {
                prop_assert!(mean(&bet, rate, bound, bound * share) <= 1.0 + 1e-9);
                // And nothing is given away: equality where the judge misses as much as allowed.
                prop_assert!((mean(&bet, rate, bound, bound) - 1.0).abs() < 1e-9);
            }
        }

        #[test]
        fn the_bound_is_the_largest_whole_number_that_the_mixture_admits(
            floor in 0.02..0.5f64, alpha in 0.0001..0.5f64, rates in proptest::collection::vec(0.0..1.0f64, 0..60),
        ) {
            let mut mixture = Mixture::new(floor, 0.0, alpha);
            let mut before = mixture.bound();
            for rate in rates {
                let rate = mixture.rate(rate);
                mixture.caught(rate);
                let bound = mixture.bound();
                prop_assert!(bound >= before, "monotone");
                let admitted = |v: f64| mixture.log_sum(v).0 <= mixture.level;
                // Newton's method stops less than 0.02 to the right of the root.
                prop_assert!(admitted(bound as f64 - 0.02));
                prop_assert!(!admitted(bound as f64 + 1.0));
                before = bound;
            }
        }
    }

    #[test]
    fn weights_sum_to_one_and_every_lambda_is_admissible() {
        let mixture = Mixture::new(0.1, 0.2, 0.05);
        let sum: f64 = mixture.bets.iter().map(|bet| bet.weight.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        let largest = ((1.0 - 0.02f64) / 0.9).ln();
        assert!(
            mixture
                .bets
                .iter()
                .all(|bet| bet.lambda > 0.0 && bet.lambda < largest)
        );
    }

    #[test]
    fn a_pending_audit_counts_as_wrong_until_it_is_settled() {
        let mut mixture = Mixture::new(0.1, 0.0, 0.05);
        let start = mixture.bound();
        mixture.begin(0.1);
        let pending = mixture.bound();
        assert!(pending > start);
        mixture.begin(0.2);
        mixture.acquit(0.2, false);
        assert_eq!(mixture.bound(), pending);
        mixture.convict(0.1, true);
        assert_eq!(mixture.bound(), pending);
        mixture.begin(0.1);
        mixture.acquit(0.1, true);
        assert_eq!(mixture.bound(), pending);
    }

    #[test]
    fn an_audit_for_certain_costs_nothing() {
        let mut mixture = Mixture::new(0.1, 0.0, 0.05);
        let start = mixture.bound();
        assert_eq!(mixture.rate(f64::NAN), 1.0);
        mixture.caught(1.0);
        assert_eq!(mixture.bound(), start);
    }
}
