//! Whether the load generator kept its schedule.

use super::Metric;
use crate::load::Outcome;
use crate::measure::Sorted;
use std::time::Duration;

/// Later than this, at the 99th percentile, and what is measured is the load generator.
const LAG_LIMIT_MS: f64 = 10.0;

/// Below this share of the rate that was asked for, it was another load.
const RATE_LIMIT: f64 = 0.99;

/// Whether the load generator kept its schedule.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Its own lateness, in milliseconds: without the time for which the cap held a request back.
    pub lag: Sorted,
    /// Requests a second that were due. None where all were due at once, and in a closed loop, which has no rate.
    pub offered: Option<f64>,
    /// Requests a second that it sent, or would have, had the cap not held them back.
    pub achieved: Option<f64>,
    is_judged: bool,
}

impl Pace {
    /// Of a run in an open or a closed loop.
    #[must_use]
    pub fn of(outcomes: &[Outcome], is_open: bool) -> Self {
        let intervals = outcomes.len().saturating_sub(1) as f64;
        let rate = |moment: fn(&Outcome) -> Duration| {
            let moments = || outcomes.iter().map(moment);
            let span = moments()
                .max()?
                .checked_sub(moments().min()?)?
                .as_secs_f64();
            (span > 0.0).then(|| intervals / span)
        };
        let offered = rate(|outcome| outcome.due).filter(|_| is_open);
        let achieved = offered.and_then(|_| rate(|outcome| outcome.due + outcome.lag()));
        Self {
            lag: Metric::Lag.of_all(outcomes),
            offered,
            achieved,
            is_judged: offered.is_some() || !is_open,
        }
    }

    /// What was not kept, in words, with the fix. Requests that are all due at one moment cannot be sent at one moment: such a
    /// run is not judged.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        if !self.is_judged {
            return Vec::new();
        }
        let mut faults = Vec::new();
        let p99 = self.lag.quantile(0.99);
        if p99 > LAG_LIMIT_MS {
            faults.push(format!(
                "the load generator itself was late: p99 lag {p99:.1} ms (limit {LAG_LIMIT_MS} ms). Lower the rate, give it a core of its own (taskset), or run several with seeds of their own and merge their --hdr files"
            ));
        }
        if let (Some(offered), Some(achieved)) = (self.offered, self.achieved)
            && achieved < offered * RATE_LIMIT
        {
            faults.push(format!(
                "{achieved:.1} of {offered:.1} requests a second were sent ({:.1} %, at least {:.0} % must be)",
                achieved / offered * 100.0,
                RATE_LIMIT * 100.0
            ));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::outcome;
    use super::*;

    fn pace(sent_late_ms: impl Fn(u64) -> u64) -> Pace {
        let outcomes: Vec<Outcome> = (0..1000)
            .map(|n| {
                let due = n * 10;
                outcome(n as usize, due, due + sent_late_ms(n), due + 500)
            })
            .collect();
        Pace::of(&outcomes, true)
    }

    #[test]
    fn a_generator_in_time_has_no_fault() {
        let pace = pace(|_| 1);
        assert!(pace.faults().is_empty(), "{:?}", pace.faults());
        assert!((pace.offered.unwrap() - 100.0).abs() < 0.2);
    }

    #[test]
    fn late_requests_spoil_a_run() {
        let faults = pace(|n| if n % 50 == 0 { 30 } else { 0 }).faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("p99 lag 30.0 ms"), "{faults:?}");
    }

    #[test]
    fn a_generator_that_falls_behind_spoils_a_run() {
        // Later and later: the last one by 2 % of the run.
        let faults = pace(|n| n / 5).faults();
        assert!(
            faults.iter().any(|fault| fault.contains("98.0 %")),
            "{faults:?}"
        );
    }

    #[test]
    fn a_herd_is_not_judged() {
        let outcomes: Vec<Outcome> = (0..100).map(|n| outcome(n, 0, n as u64, 500)).collect();
        assert!(Pace::of(&outcomes, true).faults().is_empty());
    }
}
