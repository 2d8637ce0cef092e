//! Prompts some of which are asked again and again.

use super::{Ask, Dataset, Random};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand_distr::{Distribution, Zipf as Law};

/// Random prompts from a fixed population, the k-th of which is asked in proportion to k^−exponent: what a cache sees.
#[derive(Clone, Debug)]
pub struct Zipf {
    random: Random,
    law: Law<f64>,
}

impl Zipf {
    /// A population of `prompts`, with an `exponent` of 0 (all alike) or more.
    ///
    /// # Errors
    /// No prompts, or an exponent below 0.
    pub fn new(random: Random, prompts: u32, exponent: f64) -> Result<Self, crate::BoxError> {
        let law = Law::new(f64::from(prompts), exponent).map_err(|error| {
            format!("{prompts} prompts with a Zipf exponent of {exponent}: {error}")
        })?;
        Ok(Self { random, law })
    }

    fn rank(&self, number: usize) -> u64 {
        let seed = self.random.seed ^ (number as u64).wrapping_mul(0xd134_2543_de82_ef95);
        self.law
            .sample(&mut Xoshiro256PlusPlus::seed_from_u64(seed)) as u64
    }
}

impl Dataset for Zipf {
    fn ask(&self, number: usize) -> Ask {
        self.random.number(self.rank(number))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Lengths;
    use super::*;

    #[test]
    fn ranks_are_asked_as_often_as_the_law_says() {
        let lengths = Lengths {
            input: 4,
            output: 4,
            range_ratio: 0.0,
            prefix: 0,
        };
        let random = Random {
            lengths,
            batch: 1,
            seed: 3,
        };
        let zipf = Zipf::new(random, 100, 1.0).unwrap();
        let harmonic: f64 = (1..=100).map(|k| 1.0 / f64::from(k)).sum();
        let mut counts = [0_u32; 101];
        for number in 0..100_000 {
            counts[zipf.rank(number) as usize] += 1;
        }
        for rank in [1, 2, 10] {
            let expected = 100_000.0 / (rank as f64 * harmonic);
            let measured = f64::from(counts[rank]);
            assert!(
                (measured / expected - 1.0).abs() < 0.08,
                "{rank}: {measured} for {expected}"
            );
        }
    }
}
