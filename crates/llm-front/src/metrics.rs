//! What the gateway counts, and how it is read: OpenMetrics text at `/metrics`.
//!
//! What the layers count of themselves (flights, batches, the cache) is read from them when asked, so nothing is counted twice.

use crate::journey::{Journey, Stage};
use crate::routes::Route;
use crate::source::Source;
use http::StatusCode;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::fmt::{self, Write as _};
use std::time::Duration;

/// The content type of [`Metrics::render`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Bounds of the buckets of durations, in seconds.
const SECONDS: [f64; 19] = [
    0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0,
    2.5, 5.0, 10.0, 30.0, 120.0,
];

/// What the gateway counts.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// Requests inside.
    pub in_flight: Gauge,
    requests: Family<Answered, Counter>,
    /// In the order of [`Source::ALL`]: found without a search, as every request needs them.
    duration: [Histogram; Source::ALL.len()],
    /// In the order of [`Stage::ALL`].
    stages: [Histogram; Stage::ALL.len()],
    left: Family<Left, Counter>,
    cut: Family<Cut, Counter>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Answered {
    route: Route,
    source: Source,
    code: u16,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct BySource {
    source: Source,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct ByStage {
    stage: Stage,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Left {
    route: Route,
    stage: Stage,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Cut {
    route: Route,
}

macro_rules! label {
    ($($ty:ty),*) => { $(
        impl EncodeLabelValue for $ty {
            fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
                encoder.write_str(self.word())
            }
        }
    )* };
}

label!(Route, Source, Stage);

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Counters at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("llm_front");
        let (in_flight, requests, left, cut) = (
            Gauge::default(),
            Family::default(),
            Family::default(),
            Family::default(),
        );
        let durations = Family::new_with_constructor(seconds as fn() -> Histogram);
        let duration =
            Source::ALL.map(|source| durations.get_or_create_owned(&BySource { source }));
        registry.register(
            "requests_in_flight",
            "Requests inside the gateway",
            in_flight.clone(),
        );
        registry.register("requests", "Answered requests by source", requests.clone());
        registry.register(
            "request_duration_seconds",
            "Time from a request's head to the end of its answer",
            durations,
        );
        let by_stage = Family::new_with_constructor(seconds as fn() -> Histogram);
        let stages = Stage::ALL.map(|stage| by_stage.get_or_create_owned(&ByStage { stage }));
        registry.register(
            "stage_duration_seconds",
            "Time in each stage of a request's way; the stages of a request add up to its duration",
            by_stage,
        );
        registry.register(
            "callers_left",
            "Requests whose caller left before the end (499)",
            left.clone(),
        );
        registry.register(
            "answers_cut",
            "Answers that broke off after their head was sent",
            cut.clone(),
        );
        Self {
            registry,
            in_flight,
            requests,
            duration,
            stages,
            left,
            cut,
        }
    }

    /// Adds what somebody else counts.
    #[must_use]
    pub fn with(mut self, collector: Box<dyn Collector>) -> Self {
        self.registry.register_collector(collector);
        self
    }

    /// An answer went out whole.
    pub fn answered(&self, route: Route, status: StatusCode, journey: &Journey) {
        let source = journey.source();
        self.requests
            .get_or_create(&Answered {
                route,
                source,
                code: status.as_u16(),
            })
            .inc();
        let mut whole = Duration::ZERO;
        for (stage, spent) in journey.stages() {
            whole += spent;
            if let Some(histogram) = self.stages.get(stage as usize) {
                histogram.observe(spent.as_secs_f64());
            }
        }
        if let Some(histogram) = self.duration.get(source as usize) {
            histogram.observe(whole.as_secs_f64());
        }
    }

    /// An answer broke off.
    pub fn cut(&self, route: Route) {
        self.cut.get_or_create(&Cut { route }).inc();
    }

    /// A caller left.
    pub fn left(&self, route: Route, stage: Stage) {
        self.left.get_or_create(&Left { route, stage }).inc();
    }

    /// All of it, as text.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::new();
        if text::encode(&mut text, &self.registry).is_err() {
            tracing::error!("metrics could not be written");
        }
        text
    }
}
