//! `random.Random` of CPython: string seeds, and the variates drawn from them.

use std::f64::consts::{E, PI};

use sha2::{Digest, Sha512};

use super::Mt19937;

/// A generator whose draws equal those of CPython's `random.Random`, bit for bit.
///
/// The variates that Python has ([`uniform`](Self::uniform), [`exponential`](Self::exponential),
/// [`normal`](Self::normal)) use its algorithms; [`gamma`](Self::gamma) uses Marsaglia and Tsang's.
///
/// ```
/// use llm_sim::rng::PyRandom;
///
/// let mut a = PyRandom::from_text("workload:0:0.5");
/// let mut b = PyRandom::from_text("workload:0:0.5");
/// assert_eq!(a.uniform().to_bits(), b.uniform().to_bits());
/// ```
#[derive(Clone, Debug)]
pub struct PyRandom {
    mt: Mt19937,
}

impl PyRandom {
    /// The generator that `random.Random(text)` makes.
    ///
    /// The text and its SHA-512 digest are read as one big-endian integer, whose 32-bit words,
    /// least significant first, are the key.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let mut bytes = text.as_bytes().to_vec();
        bytes.extend_from_slice(&Sha512::digest(text.as_bytes()));
        bytes.reverse();
        let mut key: Vec<u32> = bytes
            .chunks(4)
            .map(|word| {
                word.iter()
                    .rev()
                    .fold(0, |sum, byte| (sum << 8) | u32::from(*byte))
            })
            .collect();
        while key.len() > 1 && key.last() == Some(&0) {
            key.pop();
        }
        Self {
            mt: Mt19937::from_key(&key),
        }
    }

    /// Uniform on [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        let high = f64::from(self.mt.next_u32() >> 5);
        let low = f64::from(self.mt.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// Uniform on `0..below`; 0 where `below` is 0.
    pub fn below(&mut self, below: usize) -> usize {
        ((self.uniform() * below as f64) as usize).min(below.saturating_sub(1))
    }

    /// Exponential with the given rate (events a unit of time).
    pub fn exponential(&mut self, rate: f64) -> f64 {
        -(1.0 - self.uniform()).ln() / rate
    }

    /// Normal, by Kinderman and Monahan's ratio of uniforms (1977).
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let magic = 4.0 * (-0.5_f64).exp() / 2.0_f64.sqrt();
        loop {
            let u1 = self.uniform();
            let u2 = 1.0 - self.uniform();
            let z = magic * (u1 - 0.5) / u2;
            if z * z / 4.0 <= -u2.ln() {
                return mean + z * deviation;
            }
        }
    }

    /// Gamma with the given shape and mean 1 (Marsaglia and Tsang, 2000).
    ///
    /// Its coefficient of variation is 1/√shape: below a shape of 1, arrivals come in bursts.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = (1.0 - self.uniform()).powf(1.0 / shape);
            return self.gamma(shape + 1.0) * (shape + 1.0) * boost / shape;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.standard_normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 {
                let u = 1.0 - self.uniform();
                if u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                    return d * v / shape;
                }
            }
        }
    }

    fn standard_normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * PI * self.uniform()).cos()
    }

    /// A point of the Pareto law with the given shape and minimum 1.
    pub fn pareto(&mut self, shape: f64) -> f64 {
        debug_assert!(shape > 0.0 && shape < E.powi(10), "a shape is positive");
        (1.0 - self.uniform()).powf(-1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seeded_string_draws_what_python_draws() {
        // python3 -c 'import random; r = random.Random("workload:0:0.5"); print(r.expovariate(0.5) * 1000)'
        let mut random = PyRandom::from_text("workload:0:0.5");
        let first = random.exponential(0.5) * 1000.0;
        assert_eq!(first.to_string(), "121.20250706070912");
    }

    #[test]
    fn gamma_has_mean_one_and_the_variation_of_its_shape() {
        for shape in [0.25, 1.0, 4.0] {
            let mut random = PyRandom::from_text("gamma");
            let n = 20_000;
            let draws: Vec<f64> = (0..n).map(|_| random.gamma(shape)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!((mean - 1.0).abs() < 0.05, "shape {shape}: mean {mean}");
            assert!(
                (variance * shape - 1.0).abs() < 0.15,
                "shape {shape}: variance {variance}"
            );
        }
    }
}
