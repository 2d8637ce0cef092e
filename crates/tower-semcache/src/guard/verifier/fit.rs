//! Logistic regression by Newton's method: a few milliseconds, the same result every time.

use super::features::{FEATURES, Features};
use super::weights::Weights;

/// A pair of texts, and whether one answer is right for both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The pair.
    pub features: Features,
    /// Its label.
    pub same_answer: bool,
}

type Row = [f64; FEATURES];

/// Steps after which Newton's method has long converged.
const STEPS: usize = 50;
/// A step after which no digit that is kept changes.
const SETTLED: f64 = 1e-10;

// === impl Weights ===

impl Weights {
    /// The weights under which `samples` are most likely, less `ridge` times half their squared size
    /// (features scaled to variance one; the constant is free).
    ///
    /// Without samples of both kinds there is nothing to learn: all weights are then zero.
    #[must_use]
    pub fn fit(samples: &[Sample], ridge: f64) -> Self {
        let both = |kind| samples.iter().any(|sample| sample.same_answer == kind);
        if !both(true) || !both(false) {
            return Self::new([0.0; FEATURES]);
        }
        let (means, scales) = moments(samples);
        let rows: Vec<(Row, f64)> = samples
            .iter()
            .map(|sample| {
                let mut row = sample.features.as_array().map(f64::from);
                for ((value, mean), scale) in row.iter_mut().zip(means).zip(scales) {
                    *value = (*value - mean) / scale;
                }
                (row, f64::from(u8::from(sample.same_answer)))
            })
            .collect();
        let mut weights = [0.0; FEATURES];
        for _ in 0..STEPS {
            let Some(step) = step(&rows, &weights, ridge) else {
                break;
            };
            for (weight, step) in weights.iter_mut().zip(step) {
                *weight -= step;
            }
            if step.iter().all(|step| step.abs() < SETTLED) {
                break;
            }
        }
        Self::new(unscaled(weights, means, scales))
    }
}

/// Mean and standard deviation of each feature; 0 and 1 for the first, the constant.
fn moments(samples: &[Sample]) -> (Row, Row) {
    let count = samples.len() as f64;
    let (mut means, mut scales) = ([0.0; FEATURES], [0.0; FEATURES]);
    for sample in samples {
        for (mean, value) in means.iter_mut().zip(sample.features.as_array()) {
            *mean += f64::from(*value) / count;
        }
    }
    for sample in samples {
        let values = sample.features.as_array().iter().zip(means);
        for (scale, (value, mean)) in scales.iter_mut().zip(values) {
            *scale += (f64::from(*value) - mean).powi(2) / count;
        }
    }
    for (mean, scale) in means.iter_mut().zip(&mut scales) {
        *scale = scale.sqrt();
        if *scale < 1e-9 {
            (*mean, *scale) = (0.0, 1.0);
        }
    }
    (means, scales)
}

/// Gradient and Hessian of the loss, and the step that solves them.
fn step(rows: &[(Row, f64)], weights: &Row, ridge: f64) -> Option<Row> {
    let mut gradient = [0.0; FEATURES];
    let mut hessian = [[0.0; FEATURES]; FEATURES];
    for (row, label) in rows {
        let sum: f64 = row
            .iter()
            .zip(weights)
            .map(|(value, weight)| value * weight)
            .sum();
        let probability = 1.0 / (1.0 + (-sum).exp());
        let curvature = probability * (1.0 - probability);
        for ((slope, line), value) in gradient.iter_mut().zip(&mut hessian).zip(row) {
            *slope += value * (probability - label);
            for (cell, other) in line.iter_mut().zip(row) {
                *cell += curvature * value * other;
            }
        }
    }
    let diagonal = hessian.iter_mut().enumerate();
    for (((at, line), slope), weight) in diagonal.zip(&mut gradient).zip(weights) {
        let ridge = if at == 0 { 1e-9 } else { ridge };
        *slope += ridge * weight;
        if let Some(cell) = line.get_mut(at) {
            *cell += ridge;
        }
    }
    solve(hessian, gradient)
}

/// Gauss-Jordan elimination of a positive definite system, which needs no pivoting.
fn solve(mut matrix: [Row; FEATURES], mut right: Row) -> Option<Row> {
    for at in 0..FEATURES {
        let pivot = *matrix.get(at)?;
        let size = *pivot.get(at)?;
        if size.abs() < 1e-12 {
            return None;
        }
        let value = *right.get(at)? / size;
        *right.get_mut(at)? = value;
        let scaled = pivot.map(|cell| cell / size);
        *matrix.get_mut(at)? = scaled;
        let others = matrix.iter_mut().zip(&mut right).enumerate();
        for (_, (line, other)) in others.filter(|(line, _)| *line != at) {
            let factor = *line.get(at)?;
            for (cell, scaled) in line.iter_mut().zip(scaled) {
                *cell -= factor * scaled;
            }
            *other -= factor * value;
        }
    }
    Some(right)
}

/// Weights for the features as they are.
fn unscaled(weights: Row, means: Row, scales: Row) -> [f32; FEATURES] {
    let mut plain = [0.0; FEATURES];
    let mut constant = 0.0;
    let known = weights.iter().zip(means).zip(scales);
    for (slot, ((weight, mean), scale)) in plain.iter_mut().zip(known) {
        *slot = weight / scale;
        constant -= weight * mean / scale;
    }
    if let Some(first) = plain.first_mut() {
        *first += constant;
    }
    plain.map(|weight| weight as f32)
}
