use super::observation::{FEATURES, Features};

/// One judged would-be hit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) features: Features,
    pub(super) wrong: bool,
    /// 1 over the probability that it was judged.
    pub(super) weight: f32,
    /// What the score of that time said, before it knew.
    pub(super) predicted: f32,
}

/// The probability that a would-be hit is wrong, learned from judgements: a logistic regression.
#[derive(Clone, Debug)]
pub(super) struct Score {
    mean: [f64; FEATURES],
    scale: [f64; FEATURES],
    weights: [f64; WIDTH],
    /// What the odds are multiplied by, so that the past is predicted right where answers are
    /// served.
    pub(super) correction: f64,
}

/// The features and a constant.
const WIDTH: usize = FEATURES + 1;
/// The prior precision of a weight, the features being of unit variance.
const RIDGE: f64 = 1.0;

// === impl Score ===

impl Score {
    /// The probability that the answer is wrong.
    pub(super) fn wrong(&self, features: &Features) -> f64 {
        probability(self.linear(features) + self.correction.ln())
    }

    /// The same without the correction: what the correction is computed from.
    pub(super) fn uncorrected(&self, features: &Features) -> f64 {
        probability(self.linear(features))
    }

    fn linear(&self, features: &Features) -> f64 {
        let row = self.row(features);
        row.iter().zip(&self.weights).map(|(x, w)| x * w).sum()
    }

    fn row(&self, features: &Features) -> [f64; WIDTH] {
        let mut row = [1.0; WIDTH];
        for (((out, x), mean), scale) in row
            .iter_mut()
            .zip(features)
            .zip(&self.mean)
            .zip(&self.scale)
        {
            *out = (f64::from(*x) - mean) / scale;
        }
        row
    }

    /// Fits by Newton's method. `None` when the labels say nothing: too few of a kind.
    ///
    /// Every label counts alike: what is estimated is the probability *given* the features, and a
    /// label that stands for ten audits not made would only add noise.
    pub(super) fn fit(labels: &[Label]) -> Option<Self> {
        let wrong = labels.iter().filter(|label| label.wrong).count();
        if wrong < 5 || labels.len() - wrong < 5 {
            return None;
        }
        let n = labels.len() as f64;
        let (mut mean, mut scale) = ([0.0; FEATURES], [0.0; FEATURES]);
        for label in labels {
            for (sum, x) in mean.iter_mut().zip(&label.features) {
                *sum += f64::from(*x) / n;
            }
        }
        for label in labels {
            for ((sum, x), mean) in scale.iter_mut().zip(&label.features).zip(&mean) {
                *sum += (f64::from(*x) - mean).powi(2) / n;
            }
        }
        for scale in &mut scale {
            // A feature that never varied stays out of the sum.
            *scale = if *scale > 1e-12 { scale.sqrt() } else { 1e9 };
        }
        let mut score = Self {
            mean,
            scale,
            weights: [0.0; WIDTH],
            correction: 1.0,
        };
        let rows: Vec<_> = labels
            .iter()
            .map(|label| (score.row(&label.features), label.wrong))
            .collect();
        for _ in 0..12 {
            let step = newton(&rows, &score.weights)?;
            let mut size: f64 = 0.0;
            for (weight, step) in score.weights.iter_mut().zip(step) {
                // Far steps come from separable data; the ridge brings them back.
                let step = step.clamp(-4.0, 4.0);
                *weight += step;
                size = size.max(step.abs());
            }
            if size < 1e-3 {
                break;
            }
        }
        score.weights.iter().all(|w| w.is_finite()).then_some(score)
    }
}

fn newton(rows: &[([f64; WIDTH], bool)], weights: &[f64; WIDTH]) -> Option<[f64; WIDTH]> {
    let mut gradient = [0.0; WIDTH];
    let mut hessian = [[0.0; WIDTH]; WIDTH];
    for (row, wrong) in rows {
        let linear: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
        let p = probability(linear);
        let slack = f64::from(u8::from(*wrong)) - p;
        let curve = (p * (1.0 - p)).max(1e-9);
        for (i, ((x, line), sum)) in row.iter().zip(&mut hessian).zip(&mut gradient).enumerate() {
            *sum += slack * x;
            // The lower half is all that is read.
            for (cell, y) in line.iter_mut().zip(row).take(i + 1) {
                *cell += curve * x * y;
            }
        }
    }
    for (i, (line, sum)) in hessian.iter_mut().zip(&mut gradient).enumerate() {
        // The constant is the last one, and free.
        let ridge = if i + 1 == WIDTH { 1e-3 } else { RIDGE };
        if let (Some(diagonal), Some(weight)) = (line.get_mut(i), weights.get(i)) {
            *diagonal += ridge;
            *sum -= ridge * weight;
        }
    }
    solve(hessian, gradient)
}

fn probability(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// Solves A x = b for a symmetric positive definite A, of which the lower half is given.
#[expect(
    clippy::indexing_slicing,
    reason = "every index is below the constant size of the arrays"
)]
#[expect(
    clippy::needless_range_loop,
    reason = "the textbook form of Cholesky's method"
)]
fn solve(mut a: [[f64; WIDTH]; WIDTH], mut b: [f64; WIDTH]) -> Option<[f64; WIDTH]> {
    for j in 0..WIDTH {
        for k in 0..j {
            let factor = a[j][k];
            for i in j..WIDTH {
                a[i][j] -= factor * a[i][k];
            }
        }
        let pivot = a[j][j];
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        let root = pivot.sqrt();
        for i in j..WIDTH {
            a[i][j] /= root;
        }
    }
    for i in 0..WIDTH {
        for k in 0..i {
            b[i] -= a[i][k] * b[k];
        }
        b[i] /= a[i][i];
    }
    for i in (0..WIDTH).rev() {
        for k in i + 1..WIDTH {
            b[i] -= a[k][i] * b[k];
        }
        b[i] /= a[i][i];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(x: f32, y: f32, wrong: bool) -> Label {
        let mut features = [0.5; FEATURES];
        features[0] = x;
        features[1] = y;
        Label {
            features,
            wrong,
            weight: 1.0,
            predicted: 0.5,
        }
    }

    /// Labels with log-odds of 2 x - y, at the share that the model itself would give.
    fn labels() -> Vec<Label> {
        let mut labels = Vec::new();
        for i in 0..40 {
            for j in 0..40 {
                let (x, y) = ((i as f32 - 20.0) / 10.0, (j as f32 - 20.0) / 10.0);
                let p = 1.0 / (1.0 + (-(2.0 * x - y)).exp());
                let cut = ((i * 7 + j * 13) % 20) as f32 / 20.0 + 0.025;
                labels.push(label(x, y, cut < p));
            }
        }
        labels
    }

    #[test]
    fn a_logistic_relation_is_found_again() {
        let score = Score::fit(&labels()).expect("both kinds");
        for (x, y) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 1.0), (1.5, -1.0)] {
            let truth = 1.0 / (1.0 + (-(2.0f64 * x - y)).exp());
            let found = score.wrong(&label(x as f32, y as f32, false).features);
            assert!((found - truth).abs() < 0.05, "{x} {y}: {found} for {truth}");
        }
    }

    #[test]
    fn the_correction_multiplies_the_odds() {
        let mut score = Score::fit(&labels()).expect("both kinds");
        let features = label(-1.0, 1.0, false).features;
        let before = score.wrong(&features);
        score.correction = 2.0;
        let after = score.wrong(&features);
        assert!((after / (1.0 - after) - 2.0 * before / (1.0 - before)).abs() < 1e-9);
        assert_eq!(score.uncorrected(&features), before);
    }

    #[test]
    fn labels_of_one_kind_give_no_score() {
        let right: Vec<_> = (0..500).map(|i| label(i as f32, 1.0, false)).collect();
        assert!(Score::fit(&right).is_none());
        assert!(Score::fit(&[]).is_none());
    }

    #[test]
    fn labels_that_a_line_separates_give_a_finite_score() {
        let labels: Vec<_> = (0..500).map(|i| label(i as f32, 1.0, i >= 250)).collect();
        let score = Score::fit(&labels).expect("both kinds");
        assert!(score.wrong(&labels[0].features) < 0.01);
        assert!(score.wrong(&labels[499].features) > 0.99);
    }
}
