//! What a good answer is.

use super::Metric;
use crate::load::Outcome;
use crate::measure::millis;
use std::str::FromStr;
use std::time::Duration;

/// A target for one metric of a request, as in `--goodput ttft:500`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slo {
    /// TTFT, TPOT or E2EL.
    pub metric: Metric,
    /// At most so many milliseconds.
    pub limit_ms: f64,
}

impl Slo {
    /// Whether `outcome` meets it. What failed never does; an answer without a time per token (one token, or one body) meets
    /// any target for that, as in `vllm bench serve`.
    #[must_use]
    pub fn is_met(&self, outcome: &Outcome) -> bool {
        let within = |time: Duration| millis(time) <= self.limit_ms;
        outcome.is_whole()
            && match self.metric {
                Metric::Ttft => outcome.ttft().is_some_and(within),
                Metric::Tpot => outcome.tpot().is_none_or(within),
                _ => within(outcome.e2el()),
            }
    }
}

impl FromStr for Slo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || {
            format!("`{text}` is no target: write ttft:MS, tpot:MS or e2el:MS, such as ttft:500")
        };
        let (word, limit) = text.split_once(':').ok_or_else(form)?;
        let metric = match word {
            "ttft" => Metric::Ttft,
            "tpot" => Metric::Tpot,
            "e2el" => Metric::E2el,
            _ => return Err(form()),
        };
        let limit_ms: f64 = limit.parse().map_err(|_| form())?;
        match limit_ms >= 0.0 {
            true => Ok(Self { metric, limit_ms }),
            false => Err(form()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_metric_and_milliseconds() {
        let slo: Slo = "tpot:50".parse().unwrap();
        assert_eq!((slo.metric, slo.limit_ms), (Metric::Tpot, 50.0));
        for wrong in ["ttft", "itl:5", "ttft:-1", "ttft:x", "e2el:NaN"] {
            assert!(
                wrong.parse::<Slo>().unwrap_err().contains("write ttft:MS"),
                "{wrong}"
            );
        }
    }
}
