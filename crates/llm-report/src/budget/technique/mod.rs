//! The techniques, one a file, in the order of their numbers.

mod admission;
mod balancing;
mod batching;
mod fan_out;
mod hedging;
mod histograms;
mod model_version;
mod parallel_lookups;
mod pipeline;
mod planning;
mod pool;
mod queue_factor;
mod single_flight;
mod stages;
mod streaming;
mod study;

use super::Row;
use crate::BoxError;

type Technique = fn() -> Result<Row, BoxError>;

/// Every technique, by its number.
pub(super) const ALL: [(&str, Technique); 20] = [
    ("F1", stages::measure),
    ("F2", histograms::measure),
    ("F3", || {
        Ok(Row::not_built(
            "F3",
            "two tiers of cache: memory, then shared",
            "0.30 / 0.25 / 0.45 at 0.01 / 0.9 / 45 ms: 20.48 ms (20.89 with the look-ups of misses); memory alone 31.5, shared alone 20.75; the shared tier is read for 70 %",
        ))
    }),
    ("F4", || {
        Ok(Row::not_built(
            "F4",
            "eviction and admission to the cache",
            "Zipf 1, a million keys, room for 1,000: a perfect cache hits 52.0 %, plain LRU 40.3 %; a policy that counts must reach 48 %",
        ))
    }),
    ("F5", model_version::measure),
    ("F6", || {
        Ok(Row::not_built(
            "F6",
            "stale while revalidating, with one refresh",
            "200 callers on an expired hot key, a backend of 45 ms: 1 generation, 200 replies within 1 ms",
        ))
    }),
    ("F7", single_flight::measure),
    ("F8", || {
        Ok(Row::not_built(
            "F8",
            "time to live and a version stamp an entity",
            "the version is raised and the purge message lost: 0 stale answers",
        ))
    }),
    ("F9", || {
        Ok(Row::not_built(
            "F9",
            "warm before ready: replay the top keys, or ramp up",
            "hit rate 0.52, provisioned for 0.60: a cold start runs at 1.25 of capacity, after replay of the top 1,000 at 0.60",
        ))
    }),
    ("F10", hedging::measure),
    ("F11", pool::measure),
    ("F12", streaming::measure),
    ("F13", balancing::measure),
    ("F14", parallel_lookups::measure),
    ("F15", pipeline::measure),
    ("F16", batching::measure),
    ("F17", planning::measure),
    ("F18", queue_factor::measure),
    ("F19", fan_out::measure),
    ("F20", admission::measure),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Clock, State};

    #[test]
    fn every_technique_under_virtual_time_is_within_its_tolerance() {
        for technique in [
            stages::measure,
            model_version::measure,
            single_flight::measure,
            streaming::measure,
            parallel_lookups::measure,
            pipeline::measure,
            batching::measure,
            admission::measure,
        ] {
            let row = technique().unwrap();
            assert_eq!(row.clock, Clock::Virtual);
            let failed: Vec<_> = row.figures.iter().filter(|figure| !figure.passed).collect();
            assert!(
                !row.figures.is_empty() && failed.is_empty(),
                "{}: {failed:?}",
                row.id
            );
        }
    }

    #[test]
    fn the_techniques_are_numbered_without_a_gap() {
        for (number, (id, _)) in (1..).zip(ALL) {
            assert_eq!(id, format!("F{number}"));
        }
    }

    #[test]
    fn what_is_not_built_says_so_and_has_no_figures() {
        for (id, technique) in ALL {
            if ["F3", "F4", "F6", "F8", "F9"].contains(&id) {
                let row = technique().unwrap();
                assert_eq!((row.id, row.state), (id, State::NotBuilt));
                assert!(row.figures.is_empty());
            }
        }
    }
}
