use std::collections::VecDeque;

use super::observation::Features;
use super::score::{Label, Score};
use super::screen::LEVELS;

/// A score to be computed: pure work on a copy of the labels, for a thread that has the time.
///
/// Some ten to forty milliseconds at the default capacity.
#[derive(Debug)]
pub struct Refit {
    labels: Vec<Label>,
    recent: Vec<Features>,
    max_wrong: f64,
}

/// A score that was computed: see [`Controller::install`](super::Controller::install).
#[derive(Clone, Debug)]
pub struct Fitted {
    pub(super) score: Score,
    /// A threshold of the score a level: what is below it is a would-be hit.
    pub(super) thresholds: [f64; LEVELS.len()],
}

/// The labels and the requests seen lately: what a refit learns from.
#[derive(Debug)]
pub(super) struct Memory {
    labels: VecDeque<Label>,
    recent: VecDeque<Features>,
    capacity: usize,
    since: usize,
    total: usize,
}

/// How many recent requests thresholds are found on.
const RECENT: usize = 2_048;

// === impl Memory ===

impl Memory {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            labels: VecDeque::new(),
            recent: VecDeque::new(),
            capacity,
            since: 0,
            total: 0,
        }
    }

    pub(super) fn seen(&mut self, features: Features) {
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(features);
    }

    pub(super) fn label(&mut self, label: Label) {
        if self.labels.len() >= self.capacity {
            self.labels.pop_front();
        }
        self.labels.push_back(label);
        self.since += 1;
        self.total += 1;
    }

    /// Refits come by the count of labels: soon at first, then every few hundred.
    pub(super) fn due(&self) -> bool {
        self.since >= (self.total / 10).clamp(100, 400)
    }

    pub(super) const fn total(&self) -> usize {
        self.total
    }

    pub(super) fn refit(&mut self, max_wrong: f64) -> Refit {
        self.since = 0;
        Refit {
            labels: self.labels.iter().copied().collect(),
            recent: self.recent.iter().copied().collect(),
            max_wrong,
        }
    }
}

// === impl Refit ===

impl Refit {
    /// Computes the score. `None` when the labels do not tell right from wrong.
    #[must_use]
    pub fn run(self) -> Option<Fitted> {
        let mut score = Score::fit(&self.labels)?;
        score.correction = self.correction();
        let mut predicted: Vec<_> = self.recent.iter().map(|f| score.wrong(f)).collect();
        predicted.sort_by(f64::total_cmp);
        let mut thresholds = [0.0; LEVELS.len()];
        let (mut sum, mut count) = (0.0, 0.0);
        for p in predicted {
            sum += p;
            count += 1.0;
            for (threshold, share) in thresholds.iter_mut().zip(LEVELS) {
                if sum <= share * self.max_wrong * count {
                    *threshold = p;
                }
            }
        }
        Some(Fitted { score, thresholds })
    }

    /// How far off scores were where they would have served, before they knew: wrong answers over
    /// wrong answers predicted.
    fn correction(&self) -> f64 {
        let served = |label: &&Label| f64::from(label.predicted) < 4.0 * self.max_wrong;
        let (mut wrong, mut predicted) = (3.0, 3.0);
        for label in self.labels.iter().filter(served) {
            let weight = f64::from(label.weight);
            wrong += weight * f64::from(u8::from(label.wrong));
            predicted += weight * f64::from(label.predicted);
        }
        (wrong / predicted).clamp(0.5, 4.0)
    }
}
