//! What the layers count of themselves, read when `/metrics` is.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::fmt;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tower_semcache::Cache;
use tower_semcache::http::Answer;

/// The layers' own counters.
#[derive(Debug)]
pub(crate) struct LayerMetrics {
    pub(crate) cache: Cache<Answer>,
    pub(crate) flights: tower_coalesce::Stats,
    pub(crate) batches: tower_batch_llm::Stats,
    pub(crate) places: Arc<Semaphore>,
    pub(crate) max_places: usize,
}

impl Collector for LayerMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut gauge = |name: &str, help: &str, value: u64| {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
        };
        let flights = self.flights.snapshot();
        let batches = self.batches.snapshot();
        let upstream = self
            .max_places
            .saturating_sub(self.places.available_permits());
        gauge(
            "flights",
            "Calls that may be shared, in flight",
            flights.flights_open,
        )?;
        gauge(
            "batches_in_flight",
            "Batches at the backend",
            batches.in_flight,
        )?;
        gauge(
            "batch_queue",
            "Requests waiting for their batch to go",
            batches.queued,
        )?;
        gauge(
            "upstream_in_flight",
            "Requests at the backend",
            upstream as u64,
        )?;
        gauge(
            "cache_entries",
            "Answers in the cache",
            self.cache.len() as u64,
        )?;
        gauge(
            "cache_bytes",
            "Memory of the cache: answers, keys, vectors",
            self.cache.bytes() as u64,
        )?;

        let mut counter = |name: &str, help: &str, value: u64| {
            ConstCounter::new(value).encode(encoder.encode_descriptor(
                name,
                help,
                None,
                MetricType::Counter,
            )?)
        };
        counter("flight_leaders", "Calls that led a flight", flights.leaders)?;
        counter(
            "flight_followers",
            "Callers that followed one",
            flights.followers,
        )?;
        counter(
            "flights_abandoned",
            "Flights whose last caller left",
            flights.abandoned,
        )?;
        counter(
            "flight_lagged",
            "Followers that fell too far behind",
            flights.lagged,
        )?;
        counter("batch_items", "Requests in batches", batches.items)?;
        counter(
            "batch_cancelled",
            "Requests whose caller left before their batch went",
            batches.cancelled,
        )?;

        let mut sizes =
            encoder.encode_descriptor("batches", "Batches by size", None, MetricType::Counter)?;
        for (size, count) in (1_u64..).zip(batches.sizes).filter(|(_, count)| *count > 0) {
            ConstCounter::new(count)
                .encode(sizes.encode_family(&[("items", size.to_string())])?)?;
        }
        Ok(())
    }
}
