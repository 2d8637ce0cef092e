//! One server beside another: the same requests, one after the other.

use super::Metric;
use crate::load::Outcome;
use crate::measure::{Interval, millis};
use serde::Serialize;
use std::time::Duration;

/// What the first target costs beside the second, request by request. What slows both down, and what differs from request to
/// request, falls out of the difference.
#[derive(Clone, Debug, Serialize)]
pub struct Paired {
    /// What is compared.
    pub metric: &'static str,
    /// Pairs of whole answers.
    pub pairs: usize,
    /// Pairs of which one side or both have no whole answer: in no figure.
    pub incomplete: usize,
    /// The median of the first alone, in milliseconds.
    pub first_ms: f64,
    /// The median of the second alone, in milliseconds.
    pub second_ms: f64,
    /// The median of the differences, in milliseconds, with its 95 % interval: from the ranks, whatever their distribution.
    pub median_ms: Interval,
    /// Their mean, in milliseconds, with its 95 % interval by Student's t.
    pub mean_ms: Interval,
}

impl Paired {
    /// Compares `metric` (of whole pairs) between targets 0 and 1; none without such pairs. Outcomes are in the order of their
    /// numbers, then targets.
    #[must_use]
    pub fn of(outcomes: &[Outcome], metric: Metric) -> Option<Self> {
        let value = |outcome: &Outcome| -> Option<Duration> {
            match metric {
                Metric::Ttft | Metric::TtftFromSend => outcome.ttft_from_send(),
                Metric::Tpot => outcome.tpot(),
                _ => Some(outcome.e2el_from_send()),
            }
        };
        let are_whole =
            |(first, second): &(&Outcome, &Outcome)| first.is_whole() && second.is_whole();
        let pairs: Vec<(f64, f64)> = pairs(outcomes)
            .filter(are_whole)
            .filter_map(|(first, second)| Some((millis(value(first)?), millis(value(second)?))))
            .collect();
        if pairs.len() < 2 {
            return None;
        }
        let differences: Vec<f64> = pairs.iter().map(|(first, second)| first - second).collect();
        let median = |of: fn(&(f64, f64)) -> f64| {
            pairs
                .iter()
                .map(of)
                .collect::<crate::measure::Sorted>()
                .median()
        };
        Some(Self {
            metric: metric.word(),
            pairs: pairs.len(),
            incomplete: self::pairs(outcomes)
                .filter(|pair| !are_whole(pair))
                .count(),
            first_ms: median(|pair| pair.0),
            second_ms: median(|pair| pair.1),
            median_ms: Interval::of_median(&differences),
            mean_ms: Interval::of_mean(&differences),
        })
    }
}

fn pairs(outcomes: &[Outcome]) -> impl Iterator<Item = (&Outcome, &Outcome)> {
    outcomes
        .chunk_by(|a, b| a.number == b.number)
        .filter_map(|both| match both {
            [first, second] => Some((first, second)),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::outcome;
    use super::*;
    use crate::load::End;

    #[test]
    fn what_all_pairs_have_in_common_falls_out() {
        let mut outcomes = Vec::new();
        for number in 0..200 {
            // From 100 to 2,000 ms, but always 3 ms apart, give or take one.
            let slow = 100 + number as u64 * 9;
            let mut first = outcome(number, 0, 0, slow + 2 + number as u64 % 3);
            first.target = 0;
            let mut second = outcome(number, 0, 0, slow);
            second.target = 1;
            outcomes.extend([first, second]);
        }
        outcomes[11].end = End::Cut;
        let paired = Paired::of(&outcomes, Metric::E2elFromSend).unwrap();
        assert_eq!(paired.pairs, 199);
        assert!((paired.mean_ms.value - 3.0).abs() < 0.02);
        assert!(
            paired.mean_ms.low > 2.8 && paired.mean_ms.high < 3.2,
            "{paired:?}"
        );
        assert_eq!(paired.median_ms.value, 3.0);
        assert_eq!(paired.incomplete, 1);
    }
}
