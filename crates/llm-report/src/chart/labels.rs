//! Labels that do not cover one another.

/// A label: where its text begins, its middle line, and how wide it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Label {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
}

/// How far apart two lines of text are, at least.
const APART: f64 = 17.0;

/// Moves labels up and down until none covers another, within `top ..= bottom`; their order is kept.
pub(super) fn spread(labels: &mut [Label], top: f64, bottom: f64) {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let at = |labels: &[Label], number: usize| labels.get(number).map_or(0.0, |label| label.y);
    order.sort_by(|a, b| at(labels, *a).total_cmp(&at(labels, *b)));
    // Down from the top, then up again from the bottom: what was pushed out comes back in.
    push(
        labels,
        &order,
        |label, limit| label.y = label.y.max(limit),
        top,
        APART,
    );
    order.reverse();
    push(
        labels,
        &order,
        |label, limit| label.y = label.y.min(limit),
        bottom,
        -APART,
    );
}

fn push(
    labels: &mut [Label],
    order: &[usize],
    keep: impl Fn(&mut Label, f64),
    edge: f64,
    apart: f64,
) {
    let mut placed: Vec<Label> = Vec::new();
    for number in order {
        let Some(label) = labels.get_mut(*number) else {
            continue;
        };
        keep(label, edge);
        for other in &placed {
            let beside = label.x < other.x + other.width && other.x < label.x + label.width;
            if beside && (label.y - other.y).abs() < apart.abs() {
                keep(label, other.y + apart);
            }
        }
        placed.push(*label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(x: f64, y: f64) -> Label {
        Label { x, y, width: 50.0 }
    }

    #[test]
    fn labels_at_one_place_are_set_apart_within_the_frame() {
        let mut labels = [label(0.0, 95.0), label(0.0, 96.0), label(0.0, 97.0)];
        spread(&mut labels, 0.0, 100.0);
        assert_eq!(labels.map(|label| label.y), [66.0, 83.0, 100.0]);
    }

    #[test]
    fn labels_beside_one_another_stay_where_they_are() {
        let mut labels = [label(0.0, 50.0), label(100.0, 51.0)];
        let before = labels;
        spread(&mut labels, 0.0, 100.0);
        assert_eq!(labels, before);
    }
}
