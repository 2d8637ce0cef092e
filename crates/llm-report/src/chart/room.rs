//! Where among the lines of a chart there is room for a word.

use super::labels::Label;

/// The lines of a chart, in pixels.
#[derive(Clone, Debug, Default)]
pub(super) struct Room(Vec<Vec<(f64, f64)>>);

impl Room {
    /// Adds a line, its points from left to right.
    pub(super) fn add(&mut self, line: Vec<(f64, f64)>) {
        self.0.push(line);
    }

    /// The label that keeps farthest from all lines; of equals the first.
    pub(super) fn best(&self, labels: impl IntoIterator<Item = Label>) -> Option<Label> {
        let mut best: Option<(f64, Label)> = None;
        for label in labels {
            // Beyond three lines of text nothing is gained.
            let clear = self.clearance(label).min(50.0);
            if best.is_none_or(|(before, _)| clear > before + 0.5) {
                best = Some((clear, label));
            }
        }
        best.map(|(_, label)| label)
    }

    /// How far the nearest line passes above or below.
    fn clearance(&self, label: Label) -> f64 {
        let steps =
            (0..=16).map(|step| label.x - 4.0 + (label.width + 8.0) * f64::from(step) / 16.0);
        let far = |x: f64| {
            let heights = self.0.iter().filter_map(move |line| height(line, x));
            heights
                .map(|y| (y - label.y).abs())
                .fold(f64::INFINITY, f64::min)
        };
        steps.map(far).fold(f64::INFINITY, f64::min)
    }
}

/// The height of a line at `x`; none where it is not.
fn height(line: &[(f64, f64)], x: f64) -> Option<f64> {
    let pieces = line.iter().zip(line.iter().skip(1));
    let mut at = pieces.filter(|((from, _), (to, _))| (*from..=*to).contains(&x));
    let ((from, low), (to, high)) = at.next()?;
    let share = if to > from {
        (x - from) / (to - from)
    } else {
        0.0
    };
    Some(low + (high - low) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_goes_where_no_line_passes() {
        let mut room = Room::default();
        room.add(vec![(0.0, 0.0), (100.0, 100.0)]);
        let label = |x: f64| Label {
            x,
            y: 0.0,
            width: 20.0,
        };
        assert_eq!(
            room.best([label(0.0), label(70.0), label(40.0)]),
            Some(label(70.0))
        );
    }
}
