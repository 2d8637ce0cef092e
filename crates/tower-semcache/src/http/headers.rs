use std::time::Duration;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Whether a header belongs to one connection, or to one run of the request. The length is told
/// anew.
fn is_of_one_run(name: &str) -> bool {
    match name {
        "age"
        | "alt-svc"
        | "connection"
        | "content-length"
        | "date"
        | "proxy-authenticate"
        | "proxy-authorization"
        | "retry-after"
        | "set-cookie"
        | "te"
        | "trailer"
        | "transfer-encoding"
        | "upgrade"
        | "cache-status"
        | "keep-alive"
        | "proxy-connection"
        | "server-timing" => true,
        // By names that other people chose: ids of requests and traces, timings, cookies.
        "apim-request-id"
        | "b3"
        | "cf-ray"
        | "correlation-id"
        | "openai-processing-ms"
        | "request-id"
        | "set-cookie2"
        | "traceparent"
        | "tracestate"
        | "x-amz-cf-id"
        | "x-amzn-requestid"
        | "x-amzn-trace-id"
        | "x-cloud-trace-context"
        | "x-correlation-id"
        | "x-ms-request-id"
        | "x-process-time"
        | "x-request-id"
        | "x-runtime" => true,
        _ => DROPPED_BY_PREFIX
            .iter()
            .any(|prefix| name.starts_with(prefix)),
    }
}

const DROPPED_BY_PREFIX: [&str; 6] = [
    "anthropic-ratelimit-",
    "ratelimit-",
    "x-b3-",
    "x-envoy-",
    "x-ms-client-request-id",
    "x-ratelimit-",
];

/// What a response says about being stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storable {
    No,
    Yes,
    /// For no longer than this.
    For(Duration),
}

/// The headers that may be replayed: without those of one run, and all that `Connection` names.
pub(super) fn replayed(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    let connection = headers.get_all(header::CONNECTION);
    headers.iter().filter(move |(name, _)| {
        let name = name.as_str();
        let named = || directives(&connection).any(|(other, _)| other.eq_ignore_ascii_case(name));
        !is_of_one_run(name) && !named()
    })
}

/// Whether a response with these headers may be stored at all. See the module docs for the rules.
pub(super) fn storable(headers: &HeaderMap) -> Storable {
    let varies = directives(headers.get_all(header::VARY)).any(|(name, _)| {
        !name.eq_ignore_ascii_case("accept-encoding") && !name.eq_ignore_ascii_case("origin")
    });
    let encoded = directives(headers.get_all(header::CONTENT_ENCODING))
        .any(|(coding, _)| !coding.eq_ignore_ascii_case("identity"));
    if varies || encoded || headers.contains_key(header::CONTENT_RANGE) {
        return Storable::No;
    }
    let (mut max_age, mut shared_max_age) = (None, None);
    for (name, value) in directives(headers.get_all(header::CACHE_CONTROL)) {
        let is = |directive: &str| name.eq_ignore_ascii_case(directive);
        if is("no-store") || is("private") || is("no-cache") && !is_event_stream(headers) {
            return Storable::No;
        }
        // One that cannot be read is the strictest there is.
        if is("max-age") {
            max_age = Some(seconds(value).unwrap_or_default());
        } else if is("s-maxage") {
            shared_max_age = Some(seconds(value).unwrap_or_default());
        }
    }
    let Some(life) = shared_max_age.or(max_age) else {
        return Storable::Yes;
    };
    let age = headers.get(header::AGE).and_then(|age| age.to_str().ok());
    let left = life.saturating_sub(seconds(age).unwrap_or_default());
    if left.is_zero() {
        Storable::No
    } else {
        Storable::For(left)
    }
}

/// The elements of a comma-separated header, each cut at its `=`. Quotes around a value are
/// dropped; a comma inside quotes ends no element.
pub(crate) fn directives<'a>(
    values: impl IntoIterator<Item = &'a HeaderValue>,
) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    values
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(elements)
        .map(|element| match element.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().trim_matches('"'))),
            None => (element, None),
        })
}

/// A whole number of seconds.
pub(crate) fn seconds(value: Option<&str>) -> Option<Duration> {
    let value = value?;
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    // RFC 9111, section 1.2.2: what is too large to hold counts as the largest.
    digits.then(|| Duration::from_secs(value.parse::<u32>().unwrap_or(u32::MAX).into()))
}

fn elements(value: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    value
        .split(move |c| {
            quoted ^= c == '"';
            c == ',' && !quoted
        })
        .map(str::trim)
        .filter(|element| !element.is_empty())
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let essence = kind
        .and_then(|kind| kind.split(';').next())
        .unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("text/event-stream")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let headers = headers.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        map
    }

    #[test]
    fn what_belongs_to_one_run_of_a_request_is_not_replayed() {
        let headers = map(&[
            ("content-type", "application/json"),
            ("content-length", "5"),
            ("x-model", "m"),
            ("access-control-allow-origin", "https://example.org"),
            ("set-cookie", "a=b"),
            ("set-cookie", "c=d"),
            ("x-request-id", "1"),
            ("x-ratelimit-remaining-tokens", "5"),
            ("date", "today"),
            ("server-timing", "total;dur=5"),
            ("transfer-encoding", "chunked"),
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
        ]);
        let mut left: Vec<_> = replayed(&headers).map(|(name, _)| name.as_str()).collect();
        left.sort_unstable();
        assert_eq!(
            left,
            ["access-control-allow-origin", "content-type", "x-model"]
        );
    }

    #[test]
    fn upstream_may_forbid_or_shorten() {
        let says = |headers: &[_]| storable(&map(headers));
        assert_eq!(says(&[]), Storable::Yes);
        assert_eq!(says(&[("cache-control", "public, No-Store")]), Storable::No);
        assert_eq!(
            says(&[("cache-control", "private=\"x-a, x-b\"")]),
            Storable::No
        );
        assert_eq!(says(&[("cache-control", "no-cache")]), Storable::No);
        assert_eq!(
            says(&[
                ("cache-control", "no-cache"),
                ("content-type", "text/event-stream; a=b")
            ]),
            Storable::Yes,
        );
        assert_eq!(says(&[("cache-control", "max-age=0")]), Storable::No);
        assert_eq!(says(&[("cache-control", "max-age=oops")]), Storable::No);
        let five = Storable::For(Duration::from_secs(5));
        assert_eq!(says(&[("cache-control", "max-age=60, s-maxage=5")]), five);
        assert_eq!(says(&[("cache-control", "max-age=8"), ("age", "3")]), five);
        assert_eq!(
            says(&[("cache-control", "max-age=3"), ("age", "3")]),
            Storable::No
        );
    }

    #[test]
    fn an_answer_that_depends_on_an_unknown_header_or_encoding_is_not_storable() {
        let says = |headers: &[_]| storable(&map(headers));
        assert_eq!(says(&[("vary", "Accept-Encoding, origin")]), Storable::Yes);
        assert_eq!(says(&[("vary", "*")]), Storable::No);
        assert_eq!(
            says(&[("vary", "origin"), ("vary", "cookie")]),
            Storable::No
        );
        assert_eq!(says(&[("content-encoding", "gzip")]), Storable::No);
        assert_eq!(says(&[("content-encoding", "identity")]), Storable::Yes);
        assert_eq!(says(&[("content-range", "bytes 0-1/2")]), Storable::No);
    }
}
