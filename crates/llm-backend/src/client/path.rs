//! Dot segments in a path.

use std::fmt;

use http::Uri;
use memchr::memchr2;

/// The path has dot segments.
#[derive(Debug)]
pub(super) struct DotSegments {
    path: Box<str>,
}

/// Refuses a path that names another one than it seems to.
///
/// A server removes `.` and `..` before it looks at a path (RFC 3986, section 5.2.4), so that what follows a prefix may lead out
/// of it. They are looked for as the least careful server would: `%2e` is a dot, `\`, `%2f` and `%5c` are slashes, and a
/// segment's parameters (`..;x`) are no part of its name.
pub(super) fn refuse_dot_segments(uri: &Uri) -> Result<(), DotSegments> {
    let path = uri.path();
    if has_dot_segments(path.as_bytes()) {
        return Err(DotSegments { path: path.into() });
    }
    Ok(())
}

fn has_dot_segments(path: &[u8]) -> bool {
    // A segment of dots has one of these; most paths have neither.
    let Some(_) = memchr2(b'.', b'%', path) else {
        return false;
    };
    let mut segment = Segment::Dots(0);
    let mut rest = path;
    while let Some((byte, after)) = next(rest) {
        rest = after;
        segment = match (byte, segment) {
            (b'/' | b'\\', segment) if segment.is_dots() => return true,
            (b'/' | b'\\', _) => Segment::Dots(0),
            (b';', segment) if segment.is_dots() => return true,
            (b'.', Segment::Dots(dots)) => Segment::Dots(dots.saturating_add(1)),
            _ => Segment::Name,
        };
    }
    segment.is_dots()
}

/// The first byte, decoded, and the rest.
fn next(path: &[u8]) -> Option<(u8, &[u8])> {
    let encoded = |code: &[u8]| match code {
        b"2e" | b"2E" => Some(b'.'),
        b"2f" | b"2F" => Some(b'/'),
        b"5c" | b"5C" => Some(b'\\'),
        b"3b" | b"3B" => Some(b';'),
        _ => None,
    };
    let (&byte, rest) = path.split_first()?;
    if byte == b'%'
        && let Some((code, rest)) = rest.split_at_checked(2)
        && let Some(byte) = encoded(code)
    {
        return Some((byte, rest));
    }
    Some((byte, rest))
}

#[derive(Clone, Copy)]
enum Segment {
    /// So many dots and nothing else.
    Dots(usize),
    Name,
}

// === impl Segment ===

impl Segment {
    fn is_dots(self) -> bool {
        matches!(self, Self::Dots(1 | 2))
    }
}

// === impl DotSegments ===

impl fmt::Display for DotSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the path is {}", self.path)
    }
}

impl std::error::Error for DotSegments {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_segments_are_found_however_they_are_written() {
        for path in [
            "/..",
            "/.",
            "/v1/../../x",
            "/v1/./x",
            "/v1/..?x=1",
            "/v1/%2e%2E/x",
            "/v1/.%2e",
            "/v1/%2e/x",
            "/v1/..%2f..%2Fx",
            "/v1/x%2f..",
            "/v1\\..\\x",
            "/v1/%5c..%5Cx",
            "/v1/..;/x",
            "/v1/..%3bx",
            "http://elsewhere/v1/../x",
        ] {
            let refused = refuse_dot_segments(&path.parse().unwrap());
            assert!(refused.is_err(), "{path}");
        }
    }

    #[test]
    fn other_dots_and_escapes_are_part_of_a_name() {
        for path in [
            "/",
            "*",
            "/v1/models/gpt-4.1",
            "/v1/models/.hidden/..x/x../...",
            "/v1/models/org%2fname",
            "/v1/models/%2e%2e%2e",
            "/v1/a%20b/%zz/%2",
            "/v1/models/x;..",
            "/v1//models",
            "/v1/models?file=../../x",
            "/v1/models/%252e%252e",
        ] {
            let refused = refuse_dot_segments(&path.parse().unwrap());
            assert!(refused.is_ok(), "{path}");
        }
    }
}
