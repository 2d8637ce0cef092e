//! Conditions on figures.

use crate::figures::{Metric, Summary};
use crate::measure::{Sorted, Source};
use crate::report::Check;
use std::cmp::Ordering;
use std::str::FromStr;

/// Figures that are not of one metric.
const OTHERS: [&str; 16] = [
    "completed",
    "failed",
    "error_rate",
    "duration",
    "request_throughput",
    "request_goodput",
    "goodput_share",
    "output_throughput",
    "total_token_throughput",
    "mean_concurrency",
    "max_concurrent_requests",
    "tokens_per_chunk",
    "hit_rate",
    "coalesced_rate",
    "cached_token_rate",
    "achieved_rate",
];

/// A condition on a figure: `p99_e2el<500`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    figure: String,
    comparison: Comparison,
    limit: f64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Comparison {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || {
            format!(
                "--check '{text}': write FIGURE<NUMBER, such as p99_e2el<500 (milliseconds); also <=, >, >=, =="
            )
        };
        let at = text.find(['<', '>', '=']).ok_or_else(form)?;
        let (figure, rest) = text.split_at(at);
        let operators = [
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("==", Comparison::Equal),
            ("<", Comparison::Below),
            (">", Comparison::Above),
            ("=", Comparison::Equal),
        ];
        let (number, comparison) = operators
            .into_iter()
            .find_map(|(operator, comparison)| Some((rest.strip_prefix(operator)?, comparison)))
            .ok_or_else(form)?;
        let limit = number
            .trim()
            .trim_end_matches("ms")
            .trim()
            .parse()
            .map_err(|_| form())?;
        let figure = figure.trim().trim_end_matches("_ms").to_owned();
        if !is_known(&figure) {
            return Err(format!(
                "--check '{text}': there is no figure `{figure}`. There are {}, and mean_, median_, std_, max_ or pNN_ of {}",
                OTHERS.join(", "),
                Metric::ALL.map(Metric::word).join(", ")
            ));
        }
        Ok(Self {
            figure,
            comparison,
            limit,
        })
    }
}

impl Condition {
    /// Holds `summary` against it. A figure that is missing fulfils nothing.
    #[must_use]
    pub fn check(&self, summary: &Summary) -> Check {
        let measured = value(&self.figure, summary);
        let order = measured.partial_cmp(&self.limit);
        let passed = match self.comparison {
            Comparison::Below => order == Some(Ordering::Less),
            Comparison::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Above => order == Some(Ordering::Greater),
            Comparison::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            Comparison::Equal => order == Some(Ordering::Equal),
        };
        let sign = match self.comparison {
            Comparison::Below => "<",
            Comparison::AtMost => "≤",
            Comparison::Above => ">",
            Comparison::AtLeast => "≥",
            Comparison::Equal => "=",
        };
        Check {
            figure: self.figure.clone(),
            expected: format!("{sign} {}", self.limit),
            measured: format!("{measured:.3}")
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned(),
            passed,
        }
    }
}

fn is_known(figure: &str) -> bool {
    OTHERS.contains(&figure) || of_metric(figure).is_some()
}

/// A statistic and a metric, of a name such as `p99_e2el`.
fn of_metric(figure: &str) -> Option<(Statistic, Metric)> {
    let (statistic, metric) = figure.split_once('_')?;
    let metric = Metric::of(metric)?;
    let statistic = match statistic {
        "mean" => Statistic::Mean,
        "median" => Statistic::Quantile(0.5),
        "std" => Statistic::Deviation,
        "max" => Statistic::Quantile(1.0),
        percentile => {
            let percent: f64 = percentile.strip_prefix('p')?.parse().ok()?;
            Statistic::Quantile(
                (0.0..=100.0)
                    .contains(&percent)
                    .then_some(percent / 100.0)?,
            )
        }
    };
    Some((statistic, metric))
}

#[derive(Clone, Copy)]
enum Statistic {
    Mean,
    Deviation,
    Quantile(f64),
}

impl Statistic {
    fn of(self, series: &Sorted) -> f64 {
        match self {
            Self::Mean => series.mean(),
            Self::Deviation => series.deviation(),
            Self::Quantile(q) => series.quantile(q),
        }
    }
}

/// The figure of a name; NaN where the run has none.
pub(super) fn value(figure: &str, summary: &Summary) -> f64 {
    let all = &summary.all;
    let share = |part: f64| part / all.requests as f64;
    let from = |source| {
        let group = summary.sources.iter().find(|(of, _)| *of == source);
        share(group.map_or(0.0, |(_, group)| group.requests as f64))
    };
    match figure {
        "completed" => all.completed as f64,
        "failed" => all.failed() as f64,
        "error_rate" => share(all.failed() as f64),
        "duration" => summary.duration_s,
        "request_throughput" => summary.request_throughput(),
        "request_goodput" => summary.goodput().unwrap_or(f64::NAN),
        "goodput_share" => {
            if summary.has_slos {
                share(all.good as f64)
            } else {
                f64::NAN
            }
        }
        "output_throughput" => summary.output_throughput(),
        "total_token_throughput" => summary.total_token_throughput(),
        "mean_concurrency" => summary.mean_concurrency,
        "max_concurrent_requests" => summary.peak_concurrency as f64,
        "tokens_per_chunk" => summary.tokens_per_chunk(),
        "hit_rate" => from(Source::Hit),
        "coalesced_rate" => from(Source::Coalesced),
        "cached_token_rate" => all.cached_tokens as f64 / all.input_tokens as f64,
        "achieved_rate" => summary.pace.achieved.unwrap_or(f64::NAN),
        other => match of_metric(other) {
            // Who never had an answer had not had it in time.
            Some((Statistic::Quantile(q), Metric::E2el)) if all.failed() > 0 => {
                all.quantile_with_failed(q)
            }
            Some((statistic, metric)) => statistic.of(all.series(metric)),
            None => f64::NAN,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_a_figure_a_sign_and_a_number() {
        for (text, figure, comparison, limit) in [
            ("p99_e2el<500", "p99_e2el", Comparison::Below, 500.0),
            (
                "p99.9_ttft_ms <= 20ms",
                "p99.9_ttft",
                Comparison::AtMost,
                20.0,
            ),
            ("failed==0", "failed", Comparison::Equal, 0.0),
            ("hit_rate>=0.5", "hit_rate", Comparison::AtLeast, 0.5),
            (
                "mean_e2el_from_send>1",
                "mean_e2el_from_send",
                Comparison::Above,
                1.0,
            ),
        ] {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(
                (
                    condition.figure.as_str(),
                    condition.comparison,
                    condition.limit
                ),
                (figure, comparison, limit)
            );
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_there_is() {
        assert!(
            "p99_e2el"
                .parse::<Condition>()
                .unwrap_err()
                .contains("write FIGURE<NUMBER")
        );
        assert!(
            "p99_latency<5"
                .parse::<Condition>()
                .unwrap_err()
                .contains("ttft_from_send")
        );
        assert!("p101_e2el<5".parse::<Condition>().is_err());
        assert!("failed<x".parse::<Condition>().is_err());
    }

    #[test]
    fn every_figure_that_is_listed_is_known() {
        assert!(OTHERS.into_iter().all(is_known));
    }
}
