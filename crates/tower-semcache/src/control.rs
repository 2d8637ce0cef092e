use std::time::Duration;

/// What the caller allows the cache to do with this one request.
///
/// Every field can only make reuse stricter than the policy of the service: it takes away look-ups
/// and stores, or shortens the age that is still welcome. The default allows everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Control {
    /// Whether the answer may be stored.
    pub store: bool,
    /// Whether a stored answer may be served.
    pub lookup: bool,
    /// Whether the caller wants nothing but a stored answer.
    pub only_if_cached: bool,
    /// The greatest age a stored answer may have.
    pub max_age: Option<Duration>,
    /// How long a stored answer must still be fresh.
    pub min_fresh: Option<Duration>,
}

// === impl Control ===

impl Default for Control {
    fn default() -> Self {
        Self {
            store: true,
            lookup: true,
            only_if_cached: false,
            max_age: None,
            min_fresh: None,
        }
    }
}

impl Control {
    /// Whether an answer of this age, fresh for this long, may serve the caller.
    pub(crate) fn admits(&self, age: Duration, remaining: Duration) -> bool {
        self.lookup
            && self.max_age.is_none_or(|limit| age <= limit)
            && self.min_fresh.is_none_or(|least| remaining >= least)
    }

    /// Reads the caller's `Cache-Control` (RFC 9111, section 5.2.1), or `Pragma: no-cache` where
    /// there is none.
    ///
    /// * `no-store`: the answer is not stored; a stored one may still be served.
    /// * `no-cache`, `max-age=0`: no stored answer is served; the fresh one replaces it.
    /// * `max-age`, `min-fresh`: seconds; the strictest one counts; one that cannot be read counts
    ///   as `no-cache`.
    /// * `only-if-cached`: a stored answer or nothing.
    /// * `max-stale` and everything unknown is ignored: it could only loosen.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn from_headers(headers: &http::HeaderMap) -> Self {
        use http::header::{CACHE_CONTROL, PRAGMA};

        let mut control = Self::default();
        if !headers.contains_key(CACHE_CONTROL) {
            let pragma = headers.get_all(PRAGMA);
            control.lookup = !crate::http::directives(pragma)
                .any(|(name, _)| name.eq_ignore_ascii_case("no-cache"));
            return control;
        }
        for (name, value) in crate::http::directives(headers.get_all(CACHE_CONTROL)) {
            if name.eq_ignore_ascii_case("no-store") {
                control.store = false;
            } else if name.eq_ignore_ascii_case("no-cache") {
                control.lookup = false;
            } else if name.eq_ignore_ascii_case("only-if-cached") {
                control.only_if_cached = true;
            } else if name.eq_ignore_ascii_case("max-age") {
                match crate::http::seconds(value) {
                    Some(age) if !age.is_zero() => {
                        control.max_age = Some(control.max_age.map_or(age, |old| old.min(age)));
                    }
                    _ => control.lookup = false,
                }
            } else if name.eq_ignore_ascii_case("min-fresh") {
                match crate::http::seconds(value) {
                    Some(least) => {
                        let old = control.min_fresh.unwrap_or_default();
                        control.min_fresh = Some(old.max(least));
                    }
                    None => control.lookup = false,
                }
            }
        }
        control
    }
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;
    use http::{HeaderMap, HeaderValue, header};

    fn read(values: &[&str]) -> Control {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_str(value).expect("a header value");
            headers.append(header::CACHE_CONTROL, value);
        }
        Control::from_headers(&headers)
    }

    #[test]
    fn directives_only_take_away() {
        let all = Control::default();
        assert_eq!(read(&[]), all);
        assert_eq!(
            read(&["max-stale=99, immutable, stale-if-error=4, public"]),
            all
        );
        assert_eq!(
            read(&["no-store"]),
            Control {
                store: false,
                ..all
            }
        );
        assert_eq!(
            read(&["No-Cache"]),
            Control {
                lookup: false,
                ..all
            }
        );
        assert_eq!(
            read(&["only-if-cached"]),
            Control {
                only_if_cached: true,
                ..all
            }
        );
        assert_eq!(
            read(&["min-fresh=2"]).min_fresh,
            Some(Duration::from_secs(2))
        );
    }

    #[test]
    fn the_strictest_of_several_ages_counts() {
        let read = read(&["max-age=60, max-age=\"5\"", "max-age=30"]);
        assert_eq!(read.max_age, Some(Duration::from_secs(5)));
    }

    #[test]
    fn an_age_that_cannot_be_read_is_the_strictest() {
        for bad in [
            "max-age",
            "max-age=",
            "max-age=-1",
            "max-age=ten",
            "max-age=0",
            "min-fresh=x",
        ] {
            assert!(!read(&[bad]).lookup, "{bad}");
        }
    }

    #[test]
    fn pragma_counts_only_without_cache_control() {
        let mut headers = HeaderMap::new();
        headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
        assert!(!Control::from_headers(&headers).lookup);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=5"));
        assert!(Control::from_headers(&headers).lookup);
    }
}
