//! What the model's name asks of the stub.

use std::time::Duration;

use http::StatusCode;

/// The keys of a model's name, as a table to be shown: `(key, example, meaning)`.
///
/// A name is `stub?key=value&key=value`; any other name asks for nothing.
pub const KEYS: &[(&str, &str, &str)] = &[
    (
        "delay",
        "50ms",
        "wait so long before the answer, instead of the cost model",
    ),
    ("tokens", "20", "the natural length of the answer"),
    ("pace", "10ms", "the time between two tokens of a stream"),
    ("finish", "length", "the finish_reason"),
    ("status", "429", "answer with an error of this status"),
    (
        "retry_after",
        "7",
        "with `status` or `fail_first`: seconds in Retry-After",
    ),
    (
        "fail_first",
        "2",
        "only the first requests with this very name fail, with `status` or 503",
    ),
    ("drop", "1", "close the connection instead of answering"),
    (
        "cut",
        "3",
        "break the connection after so many events; without a stream, in the middle of the body",
    ),
    (
        "stall",
        "3",
        "say nothing more after so many events; without a stream, after the head",
    ),
    (
        "error_event",
        "3",
        "an error event after so many events, then the end",
    ),
    ("split", "1", "frames of so many bytes, whatever the events"),
    ("comments", "1", "a comment before every event"),
    ("crlf", "1", "events end in CRLF"),
    ("done", "0", "no [DONE] at the end of a stream"),
];

/// What the model's name asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) delay: Option<Duration>,
    pub(super) tokens: Option<u32>,
    pub(super) pace: Option<Duration>,
    pub(super) finish: Option<String>,
    pub(super) status: Option<StatusCode>,
    pub(super) retry_after: Option<u64>,
    pub(super) fail_first: Option<u32>,
    pub(super) drop: bool,
    pub(super) cut: Option<u64>,
    pub(super) stall: Option<u64>,
    pub(super) error_event: Option<u64>,
    pub(super) split: Option<usize>,
    pub(super) comments: bool,
    pub(super) crlf: bool,
    pub(super) no_done: bool,
}

// === impl Script ===

impl Script {
    /// Reads a model's name; the error says what is wrong with it.
    pub(super) fn parse(model: &str) -> Result<Self, String> {
        let mut script = Self::default();
        let Some(pairs) = model.strip_prefix("stub?") else {
            return Ok(script);
        };
        for pair in pairs.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !script.set(key, value)? {
                let known: Vec<_> = KEYS.iter().map(|(key, ..)| *key).collect();
                return Err(format!(
                    "unknown key `{key}`; known are {}",
                    known.join(", ")
                ));
            }
        }
        Ok(script)
    }

    /// Sets one key; false if there is none of this name.
    fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let wrong = || format!("`{value}` is no value of `{key}`");
        match key {
            "delay" => self.delay = Some(duration(value).ok_or_else(wrong)?),
            "tokens" => self.tokens = Some(value.parse().map_err(|_| wrong())?),
            "pace" => self.pace = Some(duration(value).ok_or_else(wrong)?),
            "finish" if !value.is_empty() => self.finish = Some(value.to_owned()),
            "status" => {
                let status = value.parse().ok().filter(is_error);
                self.status = Some(status.ok_or_else(wrong)?);
            }
            "retry_after" => self.retry_after = Some(value.parse().map_err(|_| wrong())?),
            "fail_first" => self.fail_first = Some(value.parse().map_err(|_| wrong())?),
            "drop" => self.drop = switch(value).ok_or_else(wrong)?,
            "cut" => self.cut = Some(value.parse().map_err(|_| wrong())?),
            "stall" => self.stall = Some(value.parse().map_err(|_| wrong())?),
            "error_event" => self.error_event = Some(value.parse().map_err(|_| wrong())?),
            "split" => {
                let size = value.parse().ok().filter(|size| *size > 0);
                self.split = Some(size.ok_or_else(wrong)?);
            }
            "comments" => self.comments = switch(value).ok_or_else(wrong)?,
            "crlf" => self.crlf = switch(value).ok_or_else(wrong)?,
            "done" => self.no_done = !switch(value).ok_or_else(wrong)?,
            "finish" => return Err(wrong()),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn is_error(status: &StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

fn switch(value: &str) -> Option<bool> {
    match value {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

/// A whole number and its unit: `us`, `ms`, `s` or `m`.
fn duration(value: &str) -> Option<Duration> {
    let unit = value.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = value.split_at_checked(unit)?;
    let number: u64 = number.parse().ok()?;
    match unit {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_key_is_understood() {
        for (key, example, _) in KEYS {
            let script = Script::parse(&format!("stub?{key}={example}"));
            assert_ne!(script, Ok(Script::default()), "{key}");
            assert!(script.is_ok(), "{script:?}");
        }
    }

    #[test]
    fn an_unknown_key_is_named() {
        assert!(
            Script::parse("stub?dealy=5ms")
                .unwrap_err()
                .contains("`dealy`")
        );
    }

    #[test]
    fn a_wrong_value_is_named() {
        for name in [
            "delay=5",
            "delay=ms",
            "tokens=x",
            "status=200",
            "split=0",
            "drop=2",
            "finish=",
        ] {
            let error = Script::parse(&format!("stub?{name}")).unwrap_err();
            assert!(error.contains("is no value of"), "{name}: {error}");
        }
    }

    #[test]
    fn any_other_name_asks_for_nothing() {
        for name in ["stub", "gpt-4o", "other?cut=1", "", "stub?"] {
            assert_eq!(Script::parse(name), Ok(Script::default()));
        }
    }
}
