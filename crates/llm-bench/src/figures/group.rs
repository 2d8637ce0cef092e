//! Figures of some requests: of all, or of those whose answers came from one place.

use super::{Metric, Slo};
use crate::answer::Counted;
use crate::load::{End, Outcome};
use crate::measure::Sorted;
use std::collections::BTreeMap;
use std::time::Duration;

/// Figures of some requests.
#[derive(Clone, Debug)]
pub struct Group {
    /// How many there were.
    pub requests: usize,
    /// How many have a whole answer.
    pub completed: usize,
    /// How many do not, and why: how it ended, with its status where there was one, how often, and one of them in full.
    pub failures: BTreeMap<(End, u16), (usize, String)>,
    /// Tokens of the prompts of whole answers.
    pub input_tokens: u64,
    /// Of these, those that the server had in its prefix cache.
    pub cached_tokens: u64,
    /// Tokens of whole answers.
    pub output_tokens: u64,
    /// Whole answers whose tokens nobody counted: their chunks were.
    pub uncounted: usize,
    /// Chunks that whole answers came in.
    pub chunks: u64,
    /// Tokens of whole answers that came in chunks.
    pub chunk_tokens: u64,
    /// Whole answers that meet every target.
    pub good: usize,
    series: BTreeMap<Metric, Sorted>,
}

impl Group {
    /// Of `outcomes`.
    pub fn of<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone, slos: &[Slo]) -> Self {
        let mut group = Self {
            requests: 0,
            completed: 0,
            failures: BTreeMap::new(),
            input_tokens: 0,
            cached_tokens: 0,
            output_tokens: 0,
            uncounted: 0,
            chunks: 0,
            chunk_tokens: 0,
            good: 0,
            series: Metric::ALL
                .into_iter()
                .map(|metric| (metric, metric.of_all(outcomes.clone())))
                .collect(),
        };
        for outcome in outcomes {
            group.count(outcome, slos);
        }
        group
    }

    fn count(&mut self, outcome: &Outcome, slos: &[Slo]) {
        self.requests += 1;
        if !outcome.is_whole() {
            // A status tells failures apart only where it is one.
            let status = if outcome.end == End::Status {
                outcome.status
            } else {
                0
            };
            let example = || outcome.why.as_deref().unwrap_or_default().to_owned();
            self.failures
                .entry((outcome.end, status))
                .or_insert_with(|| (0, example()))
                .0 += 1;
            return;
        }
        self.completed += 1;
        self.input_tokens += outcome.prompt_tokens;
        self.cached_tokens += outcome.cached_tokens;
        self.output_tokens += outcome.output_tokens;
        self.uncounted += usize::from(outcome.counted == Counted::Chunks);
        let chunks: u64 = outcome
            .arrivals
            .iter()
            .map(|arrival| u64::from(arrival.chunks))
            .sum();
        self.chunks += chunks;
        if chunks > 0 {
            self.chunk_tokens += outcome.output_tokens;
        }
        self.good += usize::from(slos.iter().all(|slo| slo.is_met(outcome)));
    }

    /// How many have no whole answer.
    #[must_use]
    pub const fn failed(&self) -> usize {
        self.requests - self.completed
    }

    /// All values of a metric, in milliseconds.
    #[must_use]
    pub fn series(&self, metric: Metric) -> &Sorted {
        const NONE: &Sorted = &Sorted::NONE;
        self.series.get(&metric).unwrap_or(NONE)
    }

    /// The quantile `q` of the end-to-end latency with failed requests counted as never answered: infinite where it falls among
    /// them.
    #[must_use]
    pub fn quantile_with_failed(&self, q: f64) -> f64 {
        let position = q * self.requests.saturating_sub(1) as f64;
        if position.ceil() as usize >= self.completed {
            return f64::INFINITY;
        }
        // The same position, among the whole ones alone.
        let last = self.completed.saturating_sub(1).max(1) as f64;
        self.series(Metric::E2el).quantile(position / last)
    }
}

/// The most requests that were in flight at one moment, from send to end.
pub(super) fn peak(outcomes: &[Outcome]) -> usize {
    let mut steps: Vec<(Duration, i64)> = outcomes
        .iter()
        .flat_map(|outcome| [(outcome.sent, 1), (outcome.ended, -1)])
        .collect();
    // At one moment, who leaves makes room for who comes.
    steps.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    usize::try_from(most).unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::load::Arrived;
    use crate::measure::Source;

    pub(in super::super) fn outcome(number: usize, due: u64, sent: u64, ended: u64) -> Outcome {
        let ms = Duration::from_millis;
        Outcome {
            number,
            target: 0,
            due: ms(due),
            free: ms(due),
            sent: ms(sent),
            ended: ms(ended),
            end: End::Whole,
            why: None,
            status: 200,
            source: Source::Unsaid,
            arrivals: vec![
                Arrived {
                    at: ms(ended - 20),
                    chunks: 1,
                    tokens: 1.0,
                },
                Arrived {
                    at: ms(ended),
                    chunks: 1,
                    tokens: 4.0,
                },
            ],
            prompt_tokens: 10,
            cached_tokens: 0,
            output_tokens: 5,
            counted: Counted::Server,
        }
    }

    fn failed(number: usize, end: End, status: u16) -> Outcome {
        Outcome {
            end,
            status,
            why: Some("because".into()),
            ..outcome(number, 0, 0, 100)
        }
    }

    #[test]
    fn what_failed_is_counted_by_how_it_ended_and_in_no_percentile() {
        let mut outcomes: Vec<Outcome> = (0..6).map(|n| outcome(n, 0, 0, 100)).collect();
        outcomes.extend([
            failed(6, End::Status, 429),
            failed(7, End::Status, 429),
            failed(8, End::Status, 500),
            failed(9, End::Cut, 200),
        ]);
        let slos = ["e2el:100".parse().unwrap()];
        let group = Group::of(outcomes.iter(), &slos);
        assert_eq!(
            (group.requests, group.completed, group.failed(), group.good),
            (10, 6, 4, 6)
        );
        let counts: Vec<_> = group
            .failures
            .iter()
            .map(|(key, (count, _))| (*key, *count))
            .collect();
        assert_eq!(
            counts,
            [
                ((End::Cut, 0), 1),
                ((End::Status, 429), 2),
                ((End::Status, 500), 1)
            ]
        );
        assert_eq!(group.series(Metric::E2el).len(), 6);
        assert_eq!(group.series(Metric::Lag).len(), 10);
    }

    #[test]
    fn a_percentile_with_failures_is_infinite_where_it_falls_among_them() {
        let mut outcomes: Vec<Outcome> = (0..9).map(|n| outcome(n, 0, 0, 100 + n as u64)).collect();
        outcomes.push(failed(9, End::Timeout, 0));
        let group = Group::of(outcomes.iter(), &[]);
        assert_eq!(group.quantile_with_failed(0.99), f64::INFINITY);
        let brute = 100.0 + 0.5 * 9.0;
        assert!((group.quantile_with_failed(0.5) - brute).abs() < 1e-9);
    }

    #[test]
    fn a_pause_that_ends_with_four_tokens_counts_for_four() {
        let outcomes = [outcome(0, 0, 0, 100)];
        let group = Group::of(outcomes.iter(), &[]);
        let itl = group.series(Metric::Itl);
        assert_eq!((itl.len(), itl.mean()), (4, 5.0));
        assert_eq!(group.series(Metric::Icl).mean(), 20.0);
        assert_eq!((group.chunks, group.chunk_tokens), (2, 5));
    }

    #[test]
    fn who_leaves_makes_room_for_who_comes() {
        let outcomes = [
            outcome(0, 0, 0, 100),
            outcome(1, 50, 50, 150),
            outcome(2, 100, 100, 200),
        ];
        assert_eq!(peak(&outcomes), 2);
        assert_eq!(peak(&[]), 0);
    }
}
