//! Azure's traces: `TIMESTAMP,ContextTokens,GeneratedTokens`.

use crate::{
    error::Error,
    workload::{Prefix, Request},
};

pub(super) fn parse(csv: &str) -> Result<Vec<Request>, Error> {
    csv.lines()
        .skip(1)
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .enumerate()
        .map(|(at, line)| {
            row(at as u64, line).ok_or_else(|| Error::new(format!("not a row of a trace: {line}")))
        })
        .collect()
}

fn row(id: u64, line: &str) -> Option<Request> {
    let mut fields = line.split(',');
    let arrival_ms = milliseconds(fields.next()?)?;
    Some(Request {
        id,
        arrival_ms,
        prompt_tokens: fields.next()?.parse().ok()?,
        output_tokens: fields.next()?.parse::<u32>().ok()?.max(1),
        tenant: 0,
        priority: 0,
        key: id,
        prefix: Prefix::Own,
    })
}

/// Milliseconds since some fixed day, of `2023-11-16 18:15:46.6805900`.
fn milliseconds(timestamp: &str) -> Option<f64> {
    let (date, time) = timestamp.split_once(' ')?;
    let mut date = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    // Days from civil, with the year starting in March.
    let (y, m) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day;
    let mut time = time.split(':');
    let (hours, minutes) = (
        time.next()?.parse::<i64>().ok()?,
        time.next()?.parse::<i64>().ok()?,
    );
    let seconds: f64 = time.next()?.parse().ok()?;
    // Relative to a day of this century, so that microseconds survive in 53 bits.
    Some(
        ((days - 730_000) * 86_400 + hours * 3600 + minutes * 60) as f64 * 1000.0
            + seconds * 1000.0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_their_fractions_and_over_midnight() {
        let csv = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                   2024-02-28 23:59:59.5000000,374,44\n\
                   2024-03-01 00:00:00.7500000,10,0\n";
        let requests = parse(csv).unwrap();
        let gap = requests[1].arrival_ms - requests[0].arrival_ms;
        assert!((gap - (86_400_000.0 + 1250.0)).abs() < 1e-3, "{gap}");
        assert_eq!(
            (requests[0].prompt_tokens, requests[1].output_tokens),
            (374, 1)
        );
        assert!(parse("h\nnonsense").is_err());
    }
}
