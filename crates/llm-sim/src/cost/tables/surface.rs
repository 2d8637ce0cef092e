//! A function of two variables, from a table.

use std::collections::BTreeMap;

use super::curve::Curve;

/// A function of two variables: a curve over the second at each of some values of the first, and
/// linear in between.
#[derive(Clone, Debug, Default)]
pub(super) struct Surface {
    building: BTreeMap<u32, Vec<(f64, f64)>>,
    rows: Vec<(f64, Curve)>,
}

impl Surface {
    pub(super) fn add(&mut self, x: u32, y: u32, value: f64) {
        self.building
            .entry(x)
            .or_default()
            .push((f64::from(y), value));
    }

    pub(super) fn sorted(mut self) -> Self {
        self.rows = std::mem::take(&mut self.building)
            .into_iter()
            .map(|(x, points)| (f64::from(x), Curve::new(points)))
            .filter(|(_, curve)| !curve.is_empty())
            .collect();
        self
    }

    pub(super) fn at(&self, x: f64, y: f64) -> f64 {
        let after = self.rows.partition_point(|(other, _)| *other < x);
        let segment = after.clamp(1, self.rows.len().saturating_sub(1).max(1));
        match (self.rows.get(segment - 1), self.rows.get(segment)) {
            (Some((x0, low)), Some((x1, high))) => {
                let (low, high) = (low.at(y), high.at(y));
                low + (high - low) * (x - x0) / (x1 - x0)
            }
            (Some((_, only)), None) => only.at(y),
            _ => 0.0,
        }
    }
}
