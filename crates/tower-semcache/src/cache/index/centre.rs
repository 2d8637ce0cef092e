use super::code;
use super::vectors::Segment;
use crate::vector::dot;

/// The middle of a scope, about which its rows are coded, and how well the signs tell an angle there.
///
/// Two vectors at an angle θ as seen from the centre differ in a sign with probability p = θ/π ([random
/// hyperplane hashing](https://doi.org/10.1145/509907.509965)), so of n signs about n·p differ, with a
/// variance of n·p·(1 − p) if they do so independently. Measured, that is what they do: of BANKING77
/// under all-MiniLM-L6-v2 the deviation from n·p, in units of that variance's root, has a mean square
/// of 0.9 to 1.0 between a question and its nearest, of 0.6 to 0.9 between unrelated ones. Where it is
/// more (a few coordinates that outweigh all others), the sampled rows say so: `spread` is that mean
/// square, at least one.
#[derive(Debug)]
pub(super) struct Centre {
    mean: Box<[f32]>,
    spread: f64,
}

/// Rows from which the mean is computed. Its error is a thirtieth of the spread of a coordinate.
const SAMPLED: usize = 1_024;
/// −ln of the chance that a row is passed over although it is as similar as is asked for: 1 in 100,000.
const CAUTION: f64 = 11.5;

// === impl Centre ===

impl Centre {
    pub(super) fn of(segments: &[Segment], dimensions: usize) -> Self {
        let rows: usize = segments.iter().map(|segment| segment.slots().len()).sum();
        let step = rows.div_ceil(SAMPLED).max(1);
        let all = segments.iter().flat_map(Segment::vectors);
        let sampled: Vec<_> = all.step_by(step).collect();
        let mut this = Self {
            mean: mean(&sampled, dimensions),
            spread: 1.0,
        };
        let (some, others) = sampled.split_at(sampled.len() / 2);
        let pairs = some.iter().zip(others).step_by(2);
        let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), (one, two)| {
            (sum + this.deviation(one, two), count + 1.0)
        });
        this.spread = if count > 0.0 {
            f64::max(1.0, sum / count)
        } else {
            1.0
        };
        this
    }

    pub(super) const fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// How far from the centre a vector lies.
    pub(super) fn away(&self, coordinates: &[f32]) -> f64 {
        let offset = self.offset(coordinates);
        dot(&offset, &offset).sqrt()
    }

    /// In how many of the first `signs` a row may differ from a vector that lies this far `away`, if it
    /// reaches this cosine with it. `None`: it may lie anywhere.
    ///
    /// Two units with cosine s are D = √(2 − 2s) apart, so from the centre their angle is at most
    /// θ = asin(D / away). By Bernstein's inequality more than n·p + t signs differ with a chance of no
    /// more than exp(−t² / (2σ² + 2t/3)), σ² = spread·n·p·(1 − p): solved for t at 1 in 100,000.
    pub(super) fn limit(&self, signs: usize, away: f64, cosine: f64) -> Option<f64> {
        let apart = (2.0 - 2.0 * cosine).max(0.0).sqrt();
        if apart >= away {
            return None;
        }
        let (n, p) = (signs as f64, (apart / away).asin() / std::f64::consts::PI);
        let third = CAUTION / 3.0;
        let variance = self.spread * n * p * (1.0 - p);
        Some(n * p + third + (third * third + 2.0 * CAUTION * variance).sqrt())
    }

    /// The squared deviation of the signs that differ from what the angle between two rows leads to
    /// expect, in units of the variance of independent signs.
    fn deviation(&self, one: &[f32], two: &[f32]) -> f64 {
        let differ: u32 = code::words(one, &self.mean)
            .zip(code::words(two, &self.mean))
            .map(|(one, two)| (one ^ two).count_ones())
            .sum();
        let (one, two) = (self.offset(one), self.offset(two));
        let cosine = dot(&one, &two) / (dot(&one, &one) * dot(&two, &two)).sqrt();
        let (n, p) = (
            one.len() as f64,
            cosine.clamp(-1.0, 1.0).acos() / std::f64::consts::PI,
        );
        let deviation = (f64::from(differ) - n * p).powi(2) / (n * p * (1.0 - p));
        // Of equal rows, or of one at the centre, nothing can be said.
        if deviation.is_finite() {
            deviation
        } else {
            1.0
        }
    }

    fn offset(&self, coordinates: &[f32]) -> Vec<f32> {
        let pairs = coordinates.iter().zip(&self.mean);
        pairs.map(|(x, middle)| x - middle).collect()
    }
}

fn mean(rows: &[&[f32]], dimensions: usize) -> Box<[f32]> {
    let mut sums = vec![0.0f32; dimensions];
    for row in rows {
        for (sum, x) in sums.iter_mut().zip(*row) {
            *sum += x;
        }
    }
    let scale = (rows.len().max(1) as f32).recip();
    sums.into_iter().map(|sum| sum * scale).collect()
}
