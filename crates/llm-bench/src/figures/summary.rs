//! Figures of a run.

use super::group::peak;
use super::{Group, Pace, Slo};
use crate::load::{Outcome, Ran};
use crate::measure::Source;

/// Figures of a run against one target.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Of all requests.
    pub all: Group,
    /// Of those whose answers came from one place, where there are several.
    pub sources: Vec<(Source, Group)>,
    /// Whether the load generator kept its schedule.
    pub pace: Pace,
    /// From the start to the last end, in seconds.
    pub duration_s: f64,
    /// Requests in flight, on average, from send to end: Little's law.
    pub mean_concurrency: f64,
    /// The most requests in flight at one moment.
    pub peak_concurrency: usize,
    /// The most tokens that arrived in one second of the run.
    pub peak_tokens_per_s: f64,
    /// Requests that were due and not sent, since the run was stopped.
    pub unsent: usize,
    /// Whether targets were set.
    pub has_slos: bool,
}

impl Summary {
    /// Of what `ran`, in an open or a closed loop.
    #[must_use]
    pub fn of(ran: &Ran, slos: &[Slo], is_open: bool) -> Self {
        let outcomes = &ran.outcomes;
        let duration_s = ran.duration.as_secs_f64();
        let in_flight: f64 = outcomes
            .iter()
            .map(|outcome| outcome.e2el_from_send().as_secs_f64())
            .sum();
        Self {
            all: Group::of(outcomes.iter(), slos),
            sources: sources(outcomes, slos),
            pace: Pace::of(outcomes, is_open),
            duration_s,
            mean_concurrency: in_flight / duration_s,
            peak_concurrency: peak(outcomes),
            peak_tokens_per_s: peak_tokens(outcomes),
            unsent: ran.unsent,
            has_slos: !slos.is_empty(),
        }
    }

    /// Whole answers a second.
    #[must_use]
    pub fn request_throughput(&self) -> f64 {
        self.all.completed as f64 / self.duration_s
    }

    /// Tokens of whole answers a second.
    #[must_use]
    pub fn output_throughput(&self) -> f64 {
        self.all.output_tokens as f64 / self.duration_s
    }

    /// Tokens of whole answers and their prompts a second.
    #[must_use]
    pub fn total_token_throughput(&self) -> f64 {
        (self.all.input_tokens + self.all.output_tokens) as f64 / self.duration_s
    }

    /// Whole answers a second that meet every target; none without targets.
    #[must_use]
    pub fn goodput(&self) -> Option<f64> {
        self.has_slos
            .then(|| self.all.good as f64 / self.duration_s)
    }

    /// Mean tokens a chunk; NaN without chunks.
    #[must_use]
    pub fn tokens_per_chunk(&self) -> f64 {
        self.all.chunk_tokens as f64 / self.all.chunks as f64
    }
}

/// Apart only where the server tells: hits and generations have nothing in common but the socket.
fn sources(outcomes: &[Outcome], slos: &[Slo]) -> Vec<(Source, Group)> {
    let mut sources: Vec<Source> = outcomes.iter().map(|outcome| outcome.source).collect();
    sources.sort_unstable();
    sources.dedup();
    if sources == [Source::Unsaid] {
        return Vec::new();
    }
    let of = |source| {
        Group::of(
            outcomes
                .iter()
                .filter(move |outcome| outcome.source == source),
            slos,
        )
    };
    sources
        .into_iter()
        .map(|source| (source, of(source)))
        .collect()
}

fn peak_tokens(outcomes: &[Outcome]) -> f64 {
    let mut seconds: Vec<f64> = Vec::new();
    let arrivals = outcomes
        .iter()
        .filter(|outcome| outcome.is_whole())
        .flat_map(|outcome| &outcome.arrivals);
    for arrival in arrivals {
        let second = arrival.at.as_secs() as usize;
        if second >= seconds.len() {
            seconds.resize(second + 1, 0.0);
        }
        if let Some(tokens) = seconds.get_mut(second) {
            *tokens += arrival.tokens;
        }
    }
    seconds.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::outcome;
    use super::*;
    use std::time::Duration;

    fn ran(outcomes: Vec<Outcome>) -> Ran {
        Ran {
            start: crate::clock::Stamp::now(),
            duration: outcomes
                .iter()
                .map(|outcome| outcome.ended)
                .max()
                .unwrap_or(Duration::ZERO),
            scheduled: Duration::ZERO,
            outcomes,
            unsent: 0,
        }
    }

    #[test]
    fn littles_law_tells_the_requests_in_flight() {
        // Four requests of 500 ms in one second.
        let outcomes = (0..4)
            .map(|n| outcome(n, 0, (n as u64 % 2) * 500, (n as u64 % 2) * 500 + 500))
            .collect();
        let summary = Summary::of(&ran(outcomes), &[], true);
        assert!((summary.mean_concurrency - 2.0).abs() < 1e-9);
        assert_eq!(summary.peak_concurrency, 2);
        assert!((summary.request_throughput() - 4.0).abs() < 1e-9);
        assert!((summary.total_token_throughput() - 60.0).abs() < 1e-9);
        assert_eq!(summary.goodput(), None);
    }

    #[test]
    fn hits_and_generations_are_told_apart() {
        let mut outcomes: Vec<Outcome> = (0..4).map(|n| outcome(n, 0, 0, 100)).collect();
        assert!(
            Summary::of(&ran(outcomes.clone()), &[], true)
                .sources
                .is_empty(),
            "nobody says where answers came from"
        );
        outcomes[1].source = Source::Hit;
        outcomes[2].source = Source::Generation;
        let sources = Summary::of(&ran(outcomes), &[], true).sources;
        let counts: Vec<_> = sources
            .iter()
            .map(|(source, group)| (*source, group.requests))
            .collect();
        assert_eq!(
            counts,
            [
                (Source::Generation, 1),
                (Source::Hit, 1),
                (Source::Unsaid, 2)
            ]
        );
    }
}
