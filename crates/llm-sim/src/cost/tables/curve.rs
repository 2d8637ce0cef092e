//! A piecewise linear function.

use std::collections::BTreeMap;

use super::Csv;
use crate::error::Error;

/// A piecewise linear function through points with ascending x; beyond its ends the last segment
/// goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    points: Vec<(f64, f64)>,
}

impl Curve {
    pub(super) fn new(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0 == b.0);
        Self { points }
    }

    /// The sum of the operators in a table, each times `weight(operator)`, at every x of the table;
    /// and the sum of the weights.
    pub(super) fn sum(
        csv: &Csv<'_>,
        x: &str,
        weight: impl Fn(&str) -> f64,
    ) -> Result<(Self, f64), Error> {
        let mut by_operator: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for row in csv.rows() {
            let point = (row.number(x)?, row.number("time_us")?);
            let operator = row.text("layer").unwrap_or_default();
            by_operator.entry(operator).or_default().push(point);
        }
        if by_operator.is_empty() {
            return Err(Error::new("an operator table is empty"));
        }
        let mut xs: Vec<f64> = by_operator.values().flatten().map(|(x, _)| *x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let curves: Vec<(f64, Self)> = by_operator
            .into_iter()
            .map(|(operator, points)| (weight(operator), Self::new(points)))
            .collect();
        let total = |x: f64| {
            curves
                .iter()
                .map(|(weight, curve)| weight * curve.at(x))
                .sum()
        };
        let points = xs.into_iter().map(|x| (x, total(x))).collect();
        Ok((
            Self { points },
            curves.iter().map(|(weight, _)| weight).sum(),
        ))
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        let after = self.points.partition_point(|(other, _)| *other < x);
        let segment = after.clamp(1, self.points.len().saturating_sub(1).max(1));
        match (self.points.get(segment - 1), self.points.get(segment)) {
            (Some(&(x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
            (Some(&(_, y)), None) => y,
            _ => 0.0,
        }
    }
}
