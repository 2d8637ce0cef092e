//! `softmax(Q Kᵀ) V` for one text, a head at a time.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};
use rten_vecmath::Softmax;

use super::work::Space;

/// The heads of one text's attention.
pub(super) struct Heads<'a> {
    pub(super) count: usize,
    /// Numbers of a token, those of all heads.
    pub(super) width: usize,
    /// A row a token: its query, its key and its value, of all heads each.
    pub(super) projected: &'a [f32],
    /// A row a token: what it sees, of all heads.
    pub(super) context: &'a mut [f32],
    pub(super) space: &'a mut Space,
}

/// Tokens that look at once: as many sums as it takes to keep the arithmetic units busy.
const LOOKING: usize = 8;

// === impl Heads ===

impl SimdOp for Heads<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(
        clippy::indexing_slicing,
        reason = "lengths are made to fit a few lines above, and checked here once a row"
    )]
    fn eval<I: Isa>(self, isa: I) {
        let Self {
            count,
            width,
            projected,
            context,
            space,
        } = self;
        let lanes = isa.f32().len();
        let depth = width / count;
        let tokens = context.len() / width;
        // With zeros at the end of each row, whole vectors are all there is.
        let across = tokens.next_multiple_of(lanes);
        let deep = depth.next_multiple_of(lanes);
        let space = space.of(depth * across + tokens * deep + LOOKING * (across + deep));
        let (keys, rest) = space.split_at_mut(depth * across);
        let (values, rest) = rest.split_at_mut(tokens * deep);
        let (scores, seen) = rest.split_at_mut(LOOKING * across);
        keys.fill(0.0);
        values.fill(0.0);
        for head in 0..count {
            let part = |token: usize, number: usize| {
                let from = (3 * token + number) * width + head * depth;
                &projected[from..from + depth]
            };
            for token in 0..tokens {
                let places = keys[token..].iter_mut().step_by(across);
                for (place, x) in places.zip(part(token, 1)) {
                    *place = *x;
                }
                values[token * deep..][..depth].copy_from_slice(part(token, 2));
            }
            for first in (0..tokens).step_by(LOOKING) {
                let looking = LOOKING.min(tokens - first);
                // Past the last token it looks again, and nobody asks what it has seen.
                let queries = std::array::from_fn(|row| part((first + row).min(tokens - 1), 0));
                sums(isa, queries, keys, across, scores);
                for row in scores.chunks_exact_mut(across).take(looking) {
                    Softmax::new_mut(&mut row[..tokens]).eval(isa);
                }
                let weights = std::array::from_fn(|row| &scores[row * across..][..tokens]);
                sums(isa, weights, values, deep, seen);
                for (row, seen) in seen.chunks_exact(deep).take(looking).enumerate() {
                    let place = (first + row) * width + head * depth;
                    context[place..place + depth].copy_from_slice(&seen[..depth]);
                }
            }
        }
    }
}

/// Of each list of factors: the sum of the rows of `matrix`, `width` numbers each, a factor a row.
#[inline(always)]
#[expect(
    clippy::indexing_slicing,
    reason = "the caller's lengths, checked once a vector"
)]
fn sums<I: Isa>(isa: I, factors: [&[f32]; LOOKING], matrix: &[f32], width: usize, out: &mut [f32]) {
    let ops = isa.f32();
    let rows = matrix.len() / width;
    let factors = factors.map(|factors| &factors[..rows]);
    for column in (0..width).step_by(ops.len()) {
        let mut sums = [ops.zero(); LOOKING];
        for (at, row) in matrix.chunks_exact(width).enumerate() {
            let row = ops.load(&row[column..]);
            for (sum, factors) in sums.iter_mut().zip(factors) {
                *sum = ops.mul_add(ops.splat(factors[at]), row, *sum);
            }
        }
        for (sum, out) in sums.into_iter().zip(out.chunks_exact_mut(width)) {
            ops.store(sum, &mut out[column..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_sees_the_mean_of_values_weighted_by_how_keys_meet_its_query() {
        for (count, depth) in [(1, 1), (2, 5), (3, 32)] {
            let width = count * depth;
            for tokens in [1, 2, 7, 9, 16, 33] {
                let projected: Vec<f32> = (0..3 * tokens * width)
                    .map(|at| (at * 31 % 23) as f32 / 11.0 - 1.0)
                    .collect();
                let mut context = vec![f32::NAN; tokens * width];
                // What others left there must not matter.
                let mut space = Space::default();
                space.of(4096).fill(f32::NAN);
                let heads = Heads {
                    count,
                    width,
                    projected: &projected,
                    context: &mut context,
                    space: &mut space,
                };
                heads.dispatch();
                for (at, found) in context.iter().enumerate() {
                    let (token, head, number) = (at / width, at % width / depth, at % depth);
                    let part = |token: usize, part: usize| {
                        &projected[(3 * token + part) * width + head * depth..][..depth]
                    };
                    let meet = |other| -> f32 {
                        let pairs = part(token, 0).iter().zip(part(other, 1));
                        pairs.map(|(q, k)| q * k).sum::<f32>().exp()
                    };
                    let total: f32 = (0..tokens).map(meet).sum();
                    let seen = (0..tokens).map(|other| meet(other) * part(other, 2)[number]);
                    let expected = seen.sum::<f32>() / total;
                    assert!(
                        (found - expected).abs() < 1e-4,
                        "{tokens} {found} {expected}"
                    );
                }
            }
        }
    }
}
