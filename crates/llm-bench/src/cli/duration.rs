//! Times on the command line.

use std::time::Duration;

/// A number of seconds, or a time with its unit: `30`, `30s`, `500ms`, `2m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let unit = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("write 500ms, 30s, 2m or 1h".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "write 500ms, 30s, 2m or 1h".to_owned())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_or_is_seconds() {
        for (text, ms) in [
            ("30", 30_000),
            ("30s", 30_000),
            ("1.5s", 1_500),
            ("500ms", 500),
            ("2m", 120_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "-1s", "5 minutes", "1e9h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
