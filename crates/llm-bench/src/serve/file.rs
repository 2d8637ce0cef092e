//! The file of results.

use super::plan::Plan;
use super::result::backend;
use crate::BoxError;
use crate::cli::Cli;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// `YYYYMMDD-hhmmss`, in UTC.
pub(super) fn date() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// The date of a day since 1970-01-01, in the Gregorian calendar: 400 years are 146,097 days, and a year begins in March here,
/// so that a leap day is its last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

/// Where the results go; none where nobody asked for a file.
pub(super) fn name(cli: &Cli, plan: &Plan, date: &str) -> Option<PathBuf> {
    let results = &cli.results;
    if !results.save_result && !results.append_result && results.result_filename.is_none() {
        return None;
    }
    let default = || {
        let label = results.label.as_deref().unwrap_or(backend(plan));
        let model = plan.model.rsplit('/').next().unwrap_or_default();
        let cap = cli
            .traffic
            .max_concurrency
            .map_or(String::new(), |cap| format!("-concurrency{cap}"));
        PathBuf::from(format!(
            "{label}-{}qps{cap}-{model}-{date}.json",
            cli.traffic.request_rate
        ))
    };
    let name = results.result_filename.clone().unwrap_or_else(default);
    Some(
        results
            .result_dir
            .as_deref()
            .map_or(name.clone(), |folder| folder.join(name)),
    )
}

/// Writes them: one JSON object, or one more line of it.
pub(super) fn write(cli: &Cli, file: &PathBuf, result: Map<String, Value>) -> Result<(), BoxError> {
    let wrong = |error: std::io::Error| format!("{}: {error}", file.display());
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    let mut json = serde_json::to_string(&Value::Object(result))?;
    json.push('\n');
    let append = cli.results.append_result;
    let mut open = std::fs::OpenOptions::new();
    let mut out = open
        .create(true)
        .append(append)
        .write(true)
        .truncate(!append)
        .open(file)
        .map_err(wrong)?;
    out.write_all(json.as_bytes()).map_err(wrong)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_513, (2026, 3, 1)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(civil(days), date, "{days}");
        }
    }
}
