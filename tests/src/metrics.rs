//! What `/metrics` says.

/// One reading of `/metrics`.
#[derive(Clone, Debug)]
pub struct Metrics {
    text: String,
}

impl Metrics {
    /// Reads them.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self { text }
    }

    /// The value of one series, named as it is written: `llm_front_flights`, or
    /// `llm_front_batches_total{items="8"}`. A series that is not there is 0.
    ///
    /// # Panics
    /// When the value is no number.
    #[must_use]
    pub fn value(&self, series: &str) -> f64 {
        self.text
            .lines()
            .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))
            .map_or(0.0, |value| value.trim().parse().expect("a number"))
    }

    /// The sum over all series of that name whose labels contain each of `labels`.
    ///
    /// # Panics
    /// When a value is no number.
    #[must_use]
    pub fn sum(&self, name: &str, labels: &[&str]) -> f64 {
        self.text
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix('{')?.split_once("} "))
            .filter(|(found, _)| labels.iter().all(|label| found.contains(label)))
            .map(|(_, value)| value.trim().parse::<f64>().expect("a number"))
            .sum()
    }

    /// Whether a metric of that name is there at all.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.text.lines().any(|line| line.starts_with(name))
    }

    /// The gauges that must be back at zero when nobody is served, and are not.
    #[must_use]
    pub fn busy(&self) -> Vec<String> {
        [
            "llm_front_requests_in_flight",
            "llm_front_flights",
            "llm_front_batches_in_flight",
            "llm_front_batch_queue",
            "llm_front_upstream_in_flight",
        ]
        .iter()
        .inspect(|gauge| assert!(self.has(gauge), "no {gauge} in\n{}", self.text))
        .filter(|gauge| self.value(gauge) != 0.0)
        .map(|gauge| format!("{gauge} {}", self.value(gauge)))
        .collect()
    }
}
