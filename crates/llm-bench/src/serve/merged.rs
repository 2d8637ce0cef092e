//! Several load generators as one.

use crate::BoxError;
use crate::figures::merge;
use crate::report::{Table, show as print};
use std::path::PathBuf;

/// Prints the percentiles of the histograms in `files`, merged.
///
/// # Errors
/// A file is no `--hdr` file.
pub fn show(files: &[PathBuf]) -> Result<(), BoxError> {
    let title = format!("{} files merged; milliseconds", files.len());
    let mut table = Table::new(
        title,
        [
            "metric", "count", "mean", "p50", "p90", "p99", "p99.9", "max",
        ],
    );
    for (metric, histogram) in merge(files)? {
        let cell = |value: f64| {
            if value.is_nan() {
                "-".to_owned()
            } else {
                format!("{value:.2}")
            }
        };
        table.row([
            metric,
            histogram.count().to_string(),
            cell(histogram.mean_ms()),
            cell(histogram.quantile_ms(0.5)),
            cell(histogram.quantile_ms(0.9)),
            cell(histogram.quantile_ms(0.99)),
            cell(histogram.quantile_ms(0.999)),
            cell(histogram.quantile_ms(1.0)),
        ]);
    }
    print(&table.to_string());
    Ok(())
}
