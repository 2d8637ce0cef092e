//! Moments, as traces write them.

/// Seconds since some fixed moment: a number of seconds, or `YYYY-MM-DD hh:mm:ss.fraction`, with a `T` or a space between.
pub(super) fn seconds(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let (date, time) = text.split_once([' ', 'T'])?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    // Zones are left out: all lines of a trace have the same.
    let time = time.split(['+', 'Z']).next()?;
    let mut parts = time.splitn(3, ':').map(|part| part.parse::<f64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    Some(days(year, month, day) as f64 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second)
}

/// Days from 0000-03-01 in the Gregorian calendar: years begin in March here, so that a leap day is a year's last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    year * 365 + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(a: &str, b: &str) -> f64 {
        seconds(b).unwrap() - seconds(a).unwrap()
    }

    #[test]
    fn moments_lie_as_far_apart_as_the_calendar_says() {
        assert!(
            (between("2023-11-16 18:17:03.9799600", "2023-11-16 18:17:04.0319600") - 0.052).abs()
                < 1e-5
        );
        assert_eq!(between("2023-12-31T23:59:59Z", "2024-01-01T00:00:00Z"), 1.0);
        assert_eq!(
            between("2024-02-28 00:00:00", "2024-03-01 00:00:00"),
            2.0 * 86_400.0
        );
        assert_eq!(
            between("2023-02-28 00:00:00", "2023-03-01 00:00:00"),
            86_400.0
        );
        assert_eq!(between("1.5", "4"), 2.5);
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in ["", "yesterday", "2023-11 10:00:00", "2023-11-16 10:00"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
