//! What the semantic tier counts of itself, read when `/metrics` is.

use crate::feedback::Heard;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::fmt;
use tower_semcache::http::Answer;
use tower_semcache::{Bounded, Cache};

/// The counters of the semantic tier.
#[derive(Debug)]
pub(crate) struct SemanticMetrics {
    pub(crate) cache: Cache<Answer>,
    pub(crate) heard: Heard,
    pub(crate) bounded: Option<Bounded<Answer>>,
}

impl Collector for SemanticMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let stats = self.cache.stats();
        let mut to = To(&mut encoder);
        to.family(
            "semcache_hits",
            "Look-ups answered from the cache, by what matched; shadow: that would have been",
            "tier",
            &[
                ("exact", stats.hits_exact),
                ("semantic", stats.hits_semantic),
                ("shadow", stats.hits_shadow),
            ],
        )?;
        to.family(
            "semcache_embeddings_lost",
            "Requests that could not be matched by similarity: the embedder failed, was late, or gave no vector",
            "reason",
            &[
                ("failed", stats.embeddings_failed),
                ("late", stats.embeddings_late),
                ("invalid", stats.embeddings_invalid),
            ],
        )?;
        to.counter("semcache_embeddings", "Texts embedded", stats.embeddings)?;
        to.counter(
            "semcache_guard_rejected",
            "Similar texts that the guard refused",
            stats.guard_rejected,
        )?;
        to.gauge(
            "semcache_vectors",
            "Texts that can be found",
            stats.vectors as f64,
        )?;
        if let Some(bounded) = &self.bounded {
            encode_bound(&mut to, bounded)?;
        }
        self.heard.encode(encoder.encode_descriptor(
            "semcache_feedback",
            "What callers said of answers",
            None,
            MetricType::Counter,
        )?)
    }
}

/// What `--max-wrong` rests on.
fn encode_bound(to: &mut To<'_, '_>, bounded: &Bounded<Answer>) -> Result<(), fmt::Error> {
    let snapshot = bounded.snapshot();
    let standing = snapshot.certificate;
    let refused: Vec<_> = bounded
        .refused()
        .map(|(reason, count)| (reason.as_str(), count))
        .collect();
    to.family(
        "semcache_refused",
        "Requests that got no similar answer, by reason",
        "reason",
        &refused,
    )?;
    let judged = bounded.judged();
    to.family(
        "semcache_judged",
        "Pairs of answers compared, by verdict",
        "verdict",
        &[
            ("same", judged.same),
            ("different", judged.different),
            ("failed", judged.failed),
        ],
    )?;
    to.counter(
        "semcache_judged_again",
        "Pairs of fresh answers to one request compared: what the judge's noise is known from",
        judged.again,
    )?;
    to.counter(
        "semcache_cleared",
        "Answers found different at first, and the same as a second fresh one",
        snapshot.cleared,
    )?;
    to.family(
        "semcache_audits",
        "Would-be hits that the coin sent to the backend: begun, and of these found wrong or failed",
        "result",
        &[
            ("begun", standing.audited),
            ("wrong", standing.caught),
            ("failed", standing.failed),
        ],
    )?;
    to.counter(
        "semcache_served",
        "Similar answers served: N",
        standing.served,
    )?;
    to.counter(
        "semcache_restarts",
        "How often serving began anew after too many wrong answers were found",
        u64::from(standing.restarts),
    )?;
    to.counter(
        "semcache_alarms",
        "How often audits found wrong answers too thick, and all evidence was asked for anew",
        u64::from(snapshot.alarms),
    )?;
    to.counter(
        "semcache_labels",
        "Would-be hits judged so far: what the score is learned from",
        snapshot.labels,
    )?;
    for (name, help, value) in [
        (
            "semcache_wrong_bound",
            "Of the similar answers served, at most so many were wrong, at the confidence that was set",
            standing.wrong as f64,
        ),
        (
            "semcache_wrong_allowed",
            "What the bound is held against: max-wrong times those served, and the grace",
            standing.allowed,
        ),
        (
            "semcache_credit",
            "How many more wrong answers could be served; below 0 none is",
            standing.credit,
        ),
        (
            "semcache_audits_pending",
            "Audits without a verdict so far; they count as wrong meanwhile",
            standing.pending as f64,
        ),
        (
            "semcache_audit_rate",
            "Least share of would-be hits that are audited",
            standing.audit_rate,
        ),
        (
            "semcache_judge_noise",
            "Share of pairs of fresh answers to one request that the judge found different; above a quarter of max-wrong nothing is served",
            snapshot.judge_noise.unwrap_or(0.0),
        ),
        (
            "semcache_risk_threshold",
            "Served is what is at most this probably wrong; 0: nothing is",
            snapshot.threshold.unwrap_or(0.0),
        ),
        (
            "semcache_evidence",
            "The evidence of the best level over what opens it: served is from 1 on",
            snapshot.evidence,
        ),
    ] {
        to.gauge(name, help, value)?;
    }
    Ok(())
}

/// Writes metrics.
struct To<'a, 'b>(&'a mut DescriptorEncoder<'b>);

impl To<'_, '_> {
    fn family(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        series: &[(&str, u64)],
    ) -> Result<(), fmt::Error> {
        let counter = MetricType::Counter;
        let mut family = self.0.encode_descriptor(name, help, None, counter)?;
        for (value, count) in series {
            ConstCounter::new(*count).encode(family.encode_family(&[(label, *value)])?)?;
        }
        Ok(())
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> Result<(), fmt::Error> {
        let counter = MetricType::Counter;
        ConstCounter::new(value).encode(self.0.encode_descriptor(name, help, None, counter)?)
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) -> Result<(), fmt::Error> {
        let gauge = MetricType::Gauge;
        ConstGauge::new(value).encode(self.0.encode_descriptor(name, help, None, gauge)?)
    }
}
