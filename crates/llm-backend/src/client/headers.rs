//! Which headers travel.
//!
//! End-to-end headers survive byte for byte; those that belong to one connection are dropped (RFC 9110, section 7.6.1).

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request};
use http_body::Body;

use super::Credential;

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// `Trailer` is not among them: trailers are forwarded, so their announcement is too.
const HOP_BY_HOP: [HeaderName; 7] = [
    KEEP_ALIVE,
    PROXY_CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Where a caller's own credential may be.
const CREDENTIALS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    header::COOKIE,
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-api-key"),
];

/// Makes a caller's headers those of the upstream request.
pub(super) fn forward<B: Body>(request: &mut Request<B>, credential: Option<&Credential>) {
    let length = length(request);
    let headers = request.headers_mut();
    let chunked = headers.contains_key(header::TRANSFER_ENCODING);
    drop_hop_by_hop(headers);
    // The body is there already, or comes as it comes: nobody waits for a `100 Continue`.
    headers.remove(header::EXPECT);
    // Frames are read, and stored, once: nothing decodes them.
    headers.insert(
        header::ACCEPT_ENCODING,
        HeaderValue::from_static("identity"),
    );
    match length {
        // It nearly always is, and a new value allocates.
        Length::Exact(length) if announces(headers, length) => {}
        Length::Exact(length) => {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
        Length::None => {
            headers.remove(header::CONTENT_LENGTH);
        }
        // The caller's own length is kept, if it was not void.
        Length::Unknown if chunked => {
            headers.remove(header::CONTENT_LENGTH);
        }
        Length::Unknown => {}
    }
    if let Some(credential) = credential {
        for name in &CREDENTIALS {
            headers.remove(name);
        }
        headers.insert(header::AUTHORIZATION, credential.header());
    }
}

/// Drops what belongs to one connection, and what `Connection` names.
pub(super) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    if let header::Entry::Occupied(entry) = headers.entry(header::CONNECTION) {
        let (_, values) = entry.remove_entry_mult();
        let naming: Vec<HeaderValue> = values.filter(names_others).collect();
        for value in &naming {
            drop_named(headers, value);
        }
    }
    // Mostly there are none, and looking at the names that are there costs less than looking for seven.
    if headers.keys().any(|name| HOP_BY_HOP.contains(name)) {
        for name in &HOP_BY_HOP {
            headers.remove(name);
        }
    }
}

/// Whether it is more than `keep-alive` or `close`, as it nearly never is.
fn names_others(connection: &HeaderValue) -> bool {
    !["keep-alive", "close"]
        .iter()
        .any(|usual| connection.as_bytes().eq_ignore_ascii_case(usual.as_bytes()))
}

fn drop_named(headers: &mut HeaderMap, connection: &HeaderValue) {
    let Ok(names) = connection.to_str() else {
        return;
    };
    for name in names.split(',').map(str::trim) {
        // What frames or routes the message is not the caller's to drop.
        let kept = ["content-length", "content-type", "host", "authorization"];
        if !kept.iter().any(|kept| name.eq_ignore_ascii_case(kept)) {
            headers.remove(name);
        }
    }
}

fn announces(headers: &HeaderMap, length: u64) -> bool {
    let mut announced = headers.get_all(header::CONTENT_LENGTH).iter();
    let (first, second) = (announced.next(), announced.next());
    second.is_none() && first.is_some_and(|value| parse(value.as_bytes()) == Some(length))
}

fn parse(digits: &[u8]) -> Option<u64> {
    // The standard parser takes a sign too, which a length has not.
    let text = std::str::from_utf8(digits)
        .ok()
        .filter(|text| !text.starts_with('+'))?;
    text.parse().ok()
}

enum Length {
    /// To be announced.
    Exact(u64),
    /// No body, and a method that has none.
    None,
    Unknown,
}

fn length<B: Body>(request: &Request<B>) -> Length {
    match request.body().size_hint().exact() {
        Some(0)
            if matches!(
                *request.method(),
                Method::GET | Method::HEAD | Method::OPTIONS
            ) =>
        {
            Length::None
        }
        Some(length) => Length::Exact(length),
        None => Length::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RequestBody;

    fn forwarded(headers: &[(&str, &str)], credential: Option<&Credential>) -> HeaderMap {
        let mut request = Request::post("/").body(RequestBody::from("12345")).unwrap();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        forward(&mut request, credential);
        request.into_parts().0.headers
    }

    #[test]
    fn hop_by_hop_headers_and_those_named_by_connection_are_dropped() {
        let headers = forwarded(
            &[
                ("connection", "keep-alive, X-Hop"),
                ("connection", "x-hop-2"),
                ("keep-alive", "timeout=5"),
                ("x-hop", "1"),
                ("x-hop-2", "1"),
                ("te", "trailers"),
                ("transfer-encoding", "chunked"),
                ("upgrade", "h2c"),
                ("proxy-authorization", "secret"),
                ("proxy-connection", "close"),
                ("expect", "100-continue"),
            ],
            None,
        );
        let left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left.len(), 2, "{left:?}");
        assert_eq!(headers["accept-encoding"], "identity");
        assert_eq!(headers["content-length"], "5");
    }

    #[test]
    fn a_connection_header_cannot_drop_what_frames_or_authorises_the_message() {
        let headers = forwarded(
            &[
                ("connection", "authorization, content-type"),
                ("authorization", "a"),
                ("content-type", "b"),
            ],
            None,
        );
        assert_eq!(headers["authorization"], "a");
        assert_eq!(headers["content-type"], "b");
    }

    #[test]
    fn everything_else_survives_repeated_headers_included() {
        let headers = forwarded(
            &[
                ("x-a", "1"),
                ("x-a", "2"),
                ("user-agent", "u/1 \u{e9}"),
                ("traceparent", "00-1"),
            ],
            None,
        );
        assert_eq!(headers.get_all("x-a").iter().count(), 2);
        assert_eq!(headers["user-agent"].as_bytes(), "u/1 \u{e9}".as_bytes());
        assert_eq!(headers["traceparent"], "00-1");
    }

    #[test]
    fn a_configured_credential_replaces_the_callers_wholly() {
        let credential = Credential::bearer("ours").unwrap();
        let caller = [
            ("authorization", "Bearer theirs"),
            ("api-key", "x"),
            ("x-api-key", "x"),
            ("cookie", "x"),
        ];
        let headers = forwarded(&caller, Some(&credential));
        assert_eq!(headers["authorization"], "Bearer ours");
        assert!(headers["authorization"].is_sensitive());
        assert_eq!(headers.get_all("authorization").iter().count(), 1);
        assert!(!headers.contains_key("api-key") && !headers.contains_key("x-api-key"));
        assert!(!headers.contains_key("cookie"));
    }

    #[test]
    fn without_one_the_callers_credential_goes_on() {
        assert_eq!(
            forwarded(&[("authorization", "Bearer theirs")], None)["authorization"],
            "Bearer theirs"
        );
    }

    #[test]
    fn a_wrong_or_repeated_length_is_put_right() {
        for lengths in [&["7"][..], &["5", "5"], &["+5"], &["x"], &["5"], &[]] {
            let lengths: Vec<_> = lengths
                .iter()
                .map(|length| ("content-length", *length))
                .collect();
            let headers = forwarded(&lengths, None);
            let sent: Vec<_> = headers.get_all("content-length").iter().collect();
            assert_eq!(sent, ["5"], "{lengths:?}");
        }
    }

    #[test]
    fn a_get_announces_no_length() {
        let mut request = Request::get("/").body(RequestBody::empty()).unwrap();
        forward(&mut request, None);
        assert!(!request.headers().contains_key("content-length"));
    }
}
