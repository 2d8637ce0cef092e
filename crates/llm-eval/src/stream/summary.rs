//! Many runs in a few numbers.

use serde::Serialize;

use super::Run;
use super::rule::LATE;

/// Mean, least and largest over the runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    /// The mean.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// What many runs of one scenario came to. Shares are numbers in [0, 1].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many runs there were.
    pub runs: usize,
    /// Requests served, of all.
    pub hits: Range,
    /// Wrong ones, of those served.
    pub wrong: Range,
    /// Comparisons a judge was asked for, a request.
    pub judged: Range,
    /// The same after the first 2,000 requests.
    pub judged_late: Range,
    /// Runs whose share of wrong answers was at most the target at the end.
    pub kept_share: Option<usize>,
    /// Runs in which V ≤ V̄ at all times.
    pub kept_bound: Option<usize>,
    /// Runs in which V ≤ δ N + Σ c at all times.
    pub kept_promise: Option<usize>,
    /// V̄/N at the end: what is certified, of what was served.
    pub certified: Option<Range>,
    /// Restarts of the certificate.
    pub restarts: Option<Range>,
    /// Requests before the first hit.
    pub first_hit: Range,
}

// === impl Summary ===

impl Summary {
    /// `max_wrong` is the target that shares are held against, where there is one.
    #[must_use]
    pub fn new(runs: &[Run], max_wrong: Option<f64>) -> Self {
        let range = |of: &dyn Fn(&Run) -> f64| Range::of(runs.iter().map(of));
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let count = |is: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| is(run)).count();
        let certified = runs.iter().all(|run| run.certificate.is_some()) && !runs.is_empty();
        Self {
            runs: runs.len(),
            hits: range(&|run| share(run.counts.hits, run.counts.requests)),
            wrong: range(&|run| share(run.counts.wrong, run.counts.hits)),
            judged: range(&|run| share(run.counts.judged, run.counts.requests)),
            judged_late: range(&|run| {
                share(
                    run.counts.judged_late,
                    run.counts.requests.saturating_sub(LATE),
                )
            }),
            kept_share: max_wrong.map(|max_wrong| {
                count(&|run| run.counts.wrong as f64 <= max_wrong * run.counts.hits as f64)
            }),
            kept_bound: certified.then(|| count(&|run| !run.counts.broke_bound)),
            kept_promise: certified.then(|| count(&|run| !run.counts.broke_promise)),
            certified: certified.then(|| {
                range(&|run| {
                    let bound = run.certificate.as_ref().map_or(0, |ours| ours.bound);
                    share(bound, run.counts.hits)
                })
            }),
            restarts: certified.then(|| {
                range(&|run| {
                    let restarts = run.certificate.as_ref().map_or(0, |ours| ours.restarts);
                    f64::from(restarts)
                })
            }),
            first_hit: range(&|run| run.counts.first_hit as f64),
        }
    }
}

// === impl Range ===

impl Range {
    /// Of no values, zeros.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count();
        if count == 0 {
            return Self {
                mean: 0.0,
                min: 0.0,
                max: 0.0,
            };
        }
        Self {
            mean: values.clone().sum::<f64>() / count as f64,
            min: values.clone().fold(f64::INFINITY, f64::min),
            max: values.fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Counts;
    use super::*;

    fn run(hits: u64, wrong: u64) -> Run {
        Run {
            counts: Counts {
                requests: 1_000,
                hits,
                wrong,
                ..Counts::default()
            },
            certificate: None,
        }
    }

    #[test]
    fn a_summary_counts_the_runs_that_kept_the_share() {
        let summary = Summary::new(&[run(100, 2), run(300, 7), run(200, 0)], Some(0.02));
        assert_eq!(summary.kept_share, Some(2));
        assert_eq!(summary.hits.min, 0.1);
        assert_eq!(summary.hits.max, 0.3);
        assert!((summary.hits.mean - 0.2).abs() < 1e-12);
        assert_eq!(summary.kept_bound, None);
    }

    #[test]
    fn no_runs_give_zeros() {
        let summary = Summary::new(&[], None);
        assert_eq!((summary.runs, summary.hits.mean), (0, 0.0));
    }
}
