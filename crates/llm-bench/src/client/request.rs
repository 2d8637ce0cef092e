//! Requests, as bytes.

/// `POST path` with a JSON body.
#[must_use]
pub fn post(path: &str, json: &[u8]) -> Vec<u8> {
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        json.len()
    )
    .into_bytes();
    request.extend_from_slice(json);
    request
}

/// `GET path`.
#[must_use]
pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::{Framing, RequestHead};

    #[test]
    fn a_post_says_how_long_it_is() {
        let request = post("/v1/generate", b"{}");
        let head = RequestHead::parse(&request).unwrap().unwrap();
        assert!(matches!(head.framing, Framing::Length(2)));
        assert_eq!(&request[head.length..], b"{}");
    }
}
