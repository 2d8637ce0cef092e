//! Heads of requests and responses.

use super::{Framing, Malformed};
use httparse::{EMPTY_HEADER, Header, Status};

/// More fields than any server here sends.
const FIELDS: usize = 96;

/// The head of a response.
#[derive(Clone, Debug)]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// Its length, in bytes, the empty line included.
    pub length: usize,
    /// How the body ends.
    pub framing: Framing,
}

impl ResponseHead {
    /// Reads it off the front of `bytes`; none while it is not whole.
    ///
    /// # Errors
    /// It is not a head, or an interim (1xx) one, which nothing here asks for.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut fields = [EMPTY_HEADER; FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        let Status::Complete(length) = response.parse(bytes)? else {
            return Ok(None);
        };
        let status = response.code.ok_or(Malformed::new("no status"))?;
        let framing = match status {
            100..200 => return Err(Malformed::new("an interim response that nobody asked for")),
            204 | 304 => Framing::of_length(0),
            _ => Framing::of(response.headers)?.unwrap_or(Framing::UntilClose),
        };
        Ok(Some(Self {
            status,
            length,
            framing,
        }))
    }
}

/// The head of a request.
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// Its length, in bytes, the empty line included.
    pub length: usize,
    /// How the body ends.
    pub framing: Framing,
}

impl RequestHead {
    /// Reads it off the front of `bytes`; none while it is not whole.
    ///
    /// # Errors
    /// It is not a head.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut fields = [EMPTY_HEADER; FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        let Status::Complete(length) = request.parse(bytes)? else {
            return Ok(None);
        };
        let framing = Framing::of(request.headers)?.unwrap_or(Framing::of_length(0));
        Ok(Some(Self { length, framing }))
    }
}

/// The value of the field `name` in the response head at the front of `bytes`.
#[must_use]
pub fn header<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut fields = [EMPTY_HEADER; FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    response.parse(bytes).ok()?;
    find(response.headers, name)
}

pub(super) fn find<'a>(fields: &[Header<'a>], name: &str) -> Option<&'a [u8]> {
    fields
        .iter()
        .find(|field| field.name.eq_ignore_ascii_case(name))
        .map(|field| field.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\ncache-status: a; hit\r\n\r\nabc";

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        for end in 0..HEAD.len() - 3 {
            assert!(
                ResponseHead::parse(&HEAD[..end]).unwrap().is_none(),
                "{end}"
            );
        }
        let head = ResponseHead::parse(HEAD).unwrap().unwrap();
        assert_eq!((head.status, head.length), (200, HEAD.len() - 3));
    }

    #[test]
    fn a_field_is_found_by_its_name_in_any_case() {
        assert_eq!(header(HEAD, "Cache-Status"), Some(&b"a; hit"[..]));
        assert_eq!(header(HEAD, "age"), None);
    }

    #[test]
    fn a_request_without_a_length_has_no_body() {
        let head = RequestHead::parse(b"GET / HTTP/1.1\r\n\r\n")
            .unwrap()
            .unwrap();
        assert!(head.framing.is_empty());
    }

    #[test]
    fn what_is_not_http_is_refused() {
        assert!(ResponseHead::parse(b"SSH-2.0\r\n\r\n").is_err());
        assert!(ResponseHead::parse(b"HTTP/1.1 100 Continue\r\n\r\n").is_err());
        assert!(ResponseHead::parse(b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n").is_err());
    }
}
