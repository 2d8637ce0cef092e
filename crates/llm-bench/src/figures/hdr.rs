//! Histograms in files, for other tools and for merging.
//!
//! The files are HdrHistogram interval logs (V2, compressed), which HdrHistogram's own tools read: one line a metric, its word
//! as the tag, values in microseconds.

use super::Metric;
use crate::BoxError;
use crate::load::Outcome;
use crate::measure::Histogram;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What is written: what a user waits for, and how late we were.
const METRICS: [Metric; 6] = [
    Metric::Ttft,
    Metric::Tpot,
    Metric::Itl,
    Metric::E2el,
    Metric::E2elFromSend,
    Metric::Lag,
];

/// Writes the histograms of a run.
///
/// # Errors
/// The file cannot be written.
pub fn write(file: &Path, outcomes: &[Outcome], duration: Duration) -> Result<(), BoxError> {
    let mut log = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut writer = IntervalLogWriterBuilder::new()
        .with_base_time(SystemTime::now())
        // The column of the largest value, for people, is in milliseconds.
        .with_max_value_divisor(1e3)
        .begin_log_with(&mut log, &mut serializer)?;
    for metric in METRICS {
        let micros = |ms: f64| Duration::from_secs_f64(ms.max(0.0) / 1e3);
        let histogram: Histogram = metric.of_all(outcomes).values().map(micros).collect();
        writer
            .write_histogram(
                histogram.hdr(),
                Duration::ZERO,
                duration,
                Tag::new(metric.word()),
            )
            .map_err(|error| format!("{}: {error:?}", file.display()))?;
    }
    std::fs::write(file, log).map_err(|error| format!("{}: {error}", file.display()).into())
}

/// Reads the histograms of a run, by the word of their metric. Several of one metric are merged.
///
/// # Errors
/// The file cannot be read, or is none of these.
pub fn read(file: &Path) -> Result<BTreeMap<String, Histogram>, BoxError> {
    let wrong = |error: String| format!("{}: {error}", file.display());
    let log = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let mut histograms = BTreeMap::<String, Histogram>::new();
    for entry in IntervalLogIterator::new(&log) {
        let entry = entry.map_err(|error| wrong(format!("no HdrHistogram log: {error:?}")))?;
        let LogEntry::Interval(interval) = entry else {
            continue;
        };
        let tag = interval
            .tag()
            .map(|tag| tag.as_str().to_owned())
            .unwrap_or_default();
        let bytes = STANDARD
            .decode(interval.encoded_histogram())
            .map_err(|error| wrong(error.to_string()))?;
        let hdr = Deserializer::new()
            .deserialize(&mut &bytes[..])
            .map_err(|error| wrong(format!("{error:?}")))?;
        histograms
            .entry(tag)
            .or_default()
            .merge(&Histogram::from_hdr(hdr));
    }
    match histograms.is_empty() {
        true => Err(wrong("there is no histogram in it".to_owned()).into()),
        false => Ok(histograms),
    }
}

/// Reads several, and merges those of one metric: the percentiles of all, which no mean of percentiles is.
///
/// # Errors
/// As [`read`].
pub fn merge(files: &[PathBuf]) -> Result<BTreeMap<String, Histogram>, BoxError> {
    let mut merged = BTreeMap::<String, Histogram>::new();
    for file in files {
        for (tag, histogram) in read(file)? {
            merged.entry(tag).or_default().merge(&histogram);
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::super::group::tests::outcome;
    use super::*;

    #[test]
    fn written_read_and_merged_histograms_are_the_pooled_ones() {
        let folder = tempfile::tempdir().unwrap();
        let run = |name: &str, slow: u64| {
            let outcomes: Vec<Outcome> = (0..500)
                .map(|n| outcome(n, 0, 0, 50 + n as u64 * slow))
                .collect();
            let file = folder.path().join(name);
            write(&file, &outcomes, Duration::from_secs(1)).unwrap();
            (file, outcomes)
        };
        let ((a, fast), (b, slow)) = (run("a.hlog", 1), run("b.hlog", 7));
        let merged = merge(&[a, b]).unwrap();
        let pooled = Metric::E2el.of_all(fast.iter().chain(&slow));
        let e2el = &merged["e2el"];
        assert_eq!(e2el.count(), 1000);
        for q in [0.5, 0.9, 0.99] {
            // The histogram's is a value that occurs, the other lies between two.
            let (measured, truth) = (e2el.quantile_ms(q), pooled.quantile(q));
            assert!(
                (measured / truth - 1.0).abs() < 4e-3,
                "{q}: {measured} for {truth}"
            );
        }
        assert_eq!(merged["tpot"].count(), 1000);
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, "hello\n").unwrap();
        assert!(read(&file).is_err());
        std::fs::write(&file, "").unwrap();
        assert!(
            read(&file)
                .unwrap_err()
                .to_string()
                .contains("no histogram")
        );
    }
}
