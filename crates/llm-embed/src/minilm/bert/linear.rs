//! `y = x Wᵀ + b`, in 32-bit floating point.

use rayon::prelude::*;
use rten_simd::SimdOp;

use super::panels::Panels;
use super::product::Product;

/// A dense layer.
pub(super) struct Linear {
    weight: Panels,
    bias: Vec<f32>,
}

/// What becomes of the values that are already in the output.
#[derive(Clone, Copy)]
pub(super) enum Onto {
    /// They are overwritten.
    Fresh,
    /// The product is added to them.
    Sum,
}

// === impl Linear ===

impl Linear {
    /// `weight` has one row of `inputs` numbers for each number of `bias`.
    pub(super) fn new(weight: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        Self {
            weight: Panels::new(weight, inputs),
            bias,
        }
    }

    /// `input` and `out` hold one row for each token.
    pub(super) fn apply(&self, threads: usize, input: &[f32], out: &mut [f32], onto: Onto) {
        let Self { weight, bias } = self;
        if threads > 1 {
            return self.shared(threads, input, out, onto);
        }
        let product = Product {
            weight,
            panel: 0,
            bias,
            input,
            out,
            onto,
        };
        product.dispatch();
    }

    /// Each thread has some of the outputs, and with them its own part of the weights to read.
    fn shared(&self, threads: usize, input: &[f32], out: &mut [f32], onto: Onto) {
        let Self { weight, bias } = self;
        let tokens = input.len() / weight.inputs();
        let panels = bias.len().div_ceil(weight.width()).div_ceil(threads);
        let outputs = panels * weight.width();
        let parts: Vec<_> = bias
            .par_chunks(outputs)
            .enumerate()
            .map(|(number, bias)| {
                let mut part = vec![0.0; tokens * bias.len()];
                let product = Product {
                    weight,
                    panel: number * panels,
                    bias,
                    input,
                    out: &mut part,
                    onto: Onto::Fresh,
                };
                product.dispatch();
                part
            })
            .collect();
        for (number, row) in out.chunks_exact_mut(bias.len()).enumerate() {
            for (place, part) in row.chunks_mut(outputs).zip(&parts) {
                let from = part.iter().skip(number * place.len());
                match onto {
                    Onto::Fresh => place.iter_mut().zip(from).for_each(|(to, x)| *to = *x),
                    Onto::Sum => place.iter_mut().zip(from).for_each(|(to, x)| *to += x),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small numbers that differ.
    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count)
            .map(|at| ((at * 37 + seed * 11) % 19) as f32 / 8.0 - 1.0)
            .collect()
    }

    #[test]
    fn a_product_is_right_whatever_its_shape_and_whoever_computes_it() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
        let pool = pool.expect("two threads");
        for (inputs, outputs) in [(1, 1), (3, 47), (32, 48), (5, 100), (7, 97)] {
            let (weight, bias) = (numbers(inputs * outputs, 1), numbers(outputs, 2));
            let linear = Linear::new(&weight, bias.clone(), inputs);
            for tokens in 0..20 {
                let (input, before) = (numbers(inputs * tokens, 3), numbers(outputs * tokens, 4));
                for onto in [Onto::Fresh, Onto::Sum] {
                    let expected = input
                        .chunks_exact(inputs)
                        .enumerate()
                        .flat_map(|(token, x)| {
                            let (weight, bias, before) = (&weight, &bias, &before);
                            (0..outputs).map(move |at| {
                                let row = &weight[at * inputs..][..inputs];
                                let sum: f32 = row.iter().zip(x).map(|(w, x)| w * x).sum();
                                let old = before[token * outputs + at];
                                sum + bias[at] + if let Onto::Sum = onto { old } else { 0.0 }
                            })
                        });
                    let expected: Vec<f32> = expected.collect();
                    for threads in [1, 2] {
                        let mut out = before.clone();
                        pool.install(|| linear.apply(threads, &input, &mut out, onto));
                        for (found, expected) in out.iter().zip(&expected) {
                            let shape = (tokens, inputs, outputs, threads);
                            assert!((found - expected).abs() < 1e-4, "{shape:?}: {found}");
                        }
                    }
                }
            }
        }
    }
}
