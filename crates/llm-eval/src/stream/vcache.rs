//! The rule of vCache, for comparison.
//!
//! L. G. Schroeder et al., *vCache: Verified Semantic Prompt Caching*, ICLR 2026; written from its
//! description. Every entry has a logistic curve of its own, P(right | s) = 1 / (1 + e^(-γ (s - t))), fitted
//! to the judgements made of it as the nearest neighbour. With the lower confidence bound p of that
//! probability, a request is explored with probability 1 - δ / (1 - p), at the best confidence level;
//! so at most δ of *all requests* is answered wrongly. What was explored and found right is not
//! stored once more.

use super::chance::Chance;
use super::rule::{Rule, Step};
use super::space::Near;

/// vCache with an error of δ among all requests.
#[derive(Debug)]
pub(super) struct Vcache {
    max_error: f64,
    coins: Chance,
    /// The judgements of each entry: a similarity, and whether the answer was right.
    seen: Vec<Vec<(f64, bool)>>,
}

/// Before so many observations an entry explores always; two of them are given: a similarity of 0
/// is wrong, one of 1 is right.
const LEAST: usize = 6;
/// The confidence levels that are tried.
const LEVELS: usize = 50;

// === impl Vcache ===

impl Vcache {
    pub(super) const fn new(max_error: f64, coins: Chance) -> Self {
        Self {
            max_error,
            coins,
            seen: Vec::new(),
        }
    }

    fn explore(&self, seen: &[(f64, bool)], similarity: f64) -> f64 {
        if seen.len() < LEAST {
            return 1.0;
        }
        let (slope, middle, deviation) = curve(seen);
        let mut least: f64 = 1.0;
        for level in 1..LEVELS {
            let miss = level as f64 / LEVELS as f64;
            let shifted = middle + quantile(1.0 - miss) * deviation;
            let right = (1.0 - miss) / (1.0 + (-slope * (similarity - shifted)).exp());
            least = least.min(1.0 - self.max_error / (1.0 - right).max(1e-12));
        }
        least
    }
}

impl Rule for Vcache {
    const NEIGHBOURS: usize = 1;

    fn request(&mut self, near: &[Near], judge: &mut dyn FnMut(usize) -> bool) -> Step {
        let given = || vec![(0.0, false), (1.0, true)];
        let Some(nearest) = near.first() else {
            self.seen.push(given());
            return Step::Stored;
        };
        let similarity = f64::from(nearest.similarity);
        let chance = self
            .seen
            .get(nearest.entry)
            .map_or(1.0, |seen| self.explore(seen, similarity));
        if self.coins.uniform() > chance {
            return Step::Hit(0);
        }
        let right = judge(0);
        if let Some(seen) = self.seen.get_mut(nearest.entry) {
            seen.push((similarity, right));
        }
        if right {
            Step::Passed
        } else {
            self.seen.push(given());
            Step::Stored
        }
    }
}

/// The slope, the middle and the deviation of the middle.
fn curve(seen: &[(f64, bool)]) -> (f64, f64, f64) {
    let of = |kind: bool| seen.iter().filter(move |(_, right)| *right == kind);
    let wrong = of(false).map(|(s, _)| *s).fold(f64::NEG_INFINITY, f64::max);
    let right = of(true).map(|(s, _)| *s).fold(f64::INFINITY, f64::min);
    if right > wrong {
        // The likelihood has no maximum: the curve becomes a step in the middle of the gap. Its
        // published code then takes variances that were computed beforehand, about 0.2 over the
        // number of observations, and stops where the slope has met a tolerance of 1e-8.
        let slope = 2.0 * 1e8_f64.ln() / (right - wrong);
        let deviation = (0.2 / seen.len() as f64).sqrt();
        return (slope, f64::midpoint(right, wrong), deviation);
    }
    fit(seen)
}

/// The curve of greatest likelihood, by Newton's method.
fn fit(seen: &[(f64, bool)]) -> (f64, f64, f64) {
    // Keeps a slope that is hardly determined finite.
    const PRIOR: f64 = 1e-6;
    let (mut a, mut b) = (0.0_f64, 1.0_f64);
    let (mut aa, mut ab, mut bb) = (1.0, 0.0, 1.0);
    for _ in 0..40 {
        let (mut ga, mut gb) = (0.0, -PRIOR * b);
        (aa, ab, bb) = (1e-9, 0.0, PRIOR);
        for (s, right) in seen {
            let p = 1.0 / (1.0 + (-(a + b * s)).exp());
            let slack = f64::from(u8::from(*right)) - p;
            let curve = p * (1.0 - p);
            ga += slack;
            gb += slack * s;
            aa += curve;
            ab += curve * s;
            bb += curve * s * s;
        }
        let determinant = aa * bb - ab * ab;
        let step_a = (bb * ga - ab * gb) / determinant;
        let step_b = (aa * gb - ab * ga) / determinant;
        let far = (step_a.abs().max(step_b.abs()) / 20.0).max(1.0);
        a += step_a / far;
        b += step_b / far;
        if step_a.abs().max(step_b.abs()) < 1e-6 {
            break;
        }
    }
    let b = b.max(1e-6);
    let middle = (-a / b).clamp(0.0, 1.0);
    // The delta method: t = -a / b.
    let determinant = aa * bb - ab * ab;
    let (da, db) = (-1.0 / b, a / (b * b));
    let variance = (da * da * bb - 2.0 * da * db * ab + db * db * aa) / determinant;
    (b, middle, variance.max(0.0).sqrt())
}

/// The normal quantile, to 5e-4: Abramowitz and Stegun 26.2.23.
fn quantile(p: f64) -> f64 {
    let tail = p.min(1.0 - p).max(1e-12);
    let t = (-2.0 * tail.ln()).sqrt();
    let top = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let bottom = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let z = t - top / bottom;
    if p < 0.5 { -z } else { z }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.96), (0.05, -1.645), (0.999, 3.09)] {
            assert!((quantile(p) - z).abs() < 1e-3, "{p}: {}", quantile(p));
        }
    }

    #[test]
    fn the_curve_passes_the_middle_between_wrong_and_right() {
        let mut seen: Vec<_> = (0..100).map(|i| (f64::from(i) / 100.0, i >= 70)).collect();
        let (slope, middle, deviation) = curve(&seen);
        assert!((middle - 0.695).abs() < 1e-9, "{middle}");
        assert!(slope > 1_000.0 && deviation < 0.05, "{slope} {deviation}");
        seen.extend([(0.72, false), (0.68, true), (0.75, false), (0.65, true)]);
        let (slope, middle, deviation) = curve(&seen);
        assert!((middle - 0.7).abs() < 0.02, "{middle}");
        assert!(
            (20.0..200.0).contains(&slope) && deviation < 0.05,
            "{slope} {deviation}"
        );
    }

    #[test]
    fn an_entry_without_observations_explores_and_one_that_was_always_right_serves() {
        let vcache = Vcache::new(0.02, Chance::new(1, 1));
        assert_eq!(vcache.explore(&[(0.0, false), (1.0, true)], 0.9), 1.0);
        let mut seen = vec![(0.0, false), (1.0, true)];
        seen.extend((0..60).map(|i| (0.7 + f64::from(i) / 200.0, true)));
        assert!(vcache.explore(&seen, 0.95) < 0.5);
        assert!(vcache.explore(&seen, 0.1) > 0.9);
    }
}
