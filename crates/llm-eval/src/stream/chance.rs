//! Chance that is the same everywhere.

/// SplitMix64: one number of state, and good enough to shuffle and to throw coins with.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

// === impl Chance ===

impl Chance {
    /// A stream of numbers for a purpose: streams of different purposes have nothing in common.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut chance = Self(seed.wrapping_mul(0xd134_2543_de82_ef95));
        let start = chance.next() ^ purpose.wrapping_mul(0xaf25_1af3_b0f0_25b5);
        Self(start)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        // The product is below n, which is a usize.
        (self.uniform() * n as f64) as usize
    }

    /// Any order, each as likely as the others.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_everything_and_differs_from_seed_to_seed() {
        let shuffled = |seed| {
            let mut items: Vec<usize> = (0..100).collect();
            Chance::new(seed, 0).shuffle(&mut items);
            items
        };
        let (one, two) = (shuffled(1), shuffled(2));
        assert_ne!(one, two);
        assert_eq!(one, shuffled(1));
        let mut sorted = one;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_are_uniform() {
        let mut chance = Chance::new(3, 1);
        let mean = (0..10_000).map(|_| chance.uniform()).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
