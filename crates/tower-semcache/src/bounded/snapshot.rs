use super::certificate::Standing;

/// Where a [`Controller`](super::Controller) stands.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The certificate: N, the bound of V, credit, grace, restarts.
    pub certificate: Standing,
    /// The probability of being wrong up to which answers are served now; `None`: none is.
    pub threshold: Option<f64>,
    /// The largest evidence of any level, over what is needed: 1 opens.
    pub evidence: f64,
    /// Judgements of would-be hits so far.
    pub labels: u64,
    /// How often the audits raised an alarm, and all evidence was asked for again.
    pub alarms: u32,
    /// Would-be hits that a first look found different and a second one did not.
    pub cleared: u64,
    /// The share of pairs of fresh answers to one request that were judged different; `None`: none
    /// was compared.
    pub judge_noise: Option<f64>,
}

/// How often the judge disagrees with itself: fresh answers to one request, compared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Noise {
    different: f64,
    compared: f64,
    pub(super) cleared: u64,
}

/// So many differences are no accident any more.
///
/// A little less than three: older ones have faded a little.
const ENOUGH: f64 = 2.9;
/// A noisy judge may be repaired: of what was seen a thousand comparisons ago, a third counts.
const KEPT: f64 = 0.999;

// === impl Noise ===

impl Noise {
    pub(super) fn count(&mut self, different: bool) {
        self.compared = self.compared * KEPT + 1.0;
        self.different = self.different * KEPT + f64::from(u8::from(different));
    }

    pub(super) fn share(&self) -> Option<f64> {
        (self.compared > 0.0).then(|| self.different / self.compared)
    }

    /// Above a quarter of δ, audits find little but noise.
    pub(super) fn is_too_much(&self, max_wrong: f64) -> bool {
        self.different >= ENOUGH && self.different > self.compared * max_wrong / 4.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_too_much_above_a_quarter_of_the_target_and_not_before_three() {
        let mut noise = Noise::default();
        assert_eq!(noise.share(), None);
        for different in [true, true] {
            noise.count(different);
        }
        assert!(!noise.is_too_much(0.02));
        noise.count(true);
        assert!(noise.is_too_much(0.02));
        for _ in 0..2_000 {
            noise.count(false);
        }
        assert!(!noise.is_too_much(0.02));
    }
}
