//! From events to bytes.

use super::Event;

/// Writes events and comments. It has no state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Encoder;

// === impl Encoder ===

impl Encoder {
    /// Appends an event and the blank line that ends it.
    ///
    /// Every line of the data gets a `data:` of its own; CR and CRLF in it become LF, since the format cannot tell them
    /// apart. Line ends in a name or an id are left out, as they would begin another field.
    pub fn event(&self, event: &Event, out: &mut Vec<u8>) {
        let Event {
            name,
            data,
            id,
            retry,
        } = event;
        for (field, value) in [(&b"event: "[..], name), (b"id: ", id)] {
            if let Some(value) = value {
                out.extend_from_slice(field);
                out.extend(value.iter().filter(|b| !matches!(b, b'\n' | b'\r')));
                out.push(b'\n');
            }
        }
        if let Some(retry) = retry {
            out.extend_from_slice(format!("retry: {}\n", retry.as_millis()).as_bytes());
        }
        lines(data, b"data: ", out);
        out.push(b'\n');
    }

    /// Appends an event that is nothing but data.
    pub fn data(&self, data: &[u8], out: &mut Vec<u8>) {
        lines(data, b"data: ", out);
        out.push(b'\n');
    }

    /// Appends a comment: readers skip it, and the connection has seen a byte.
    pub fn comment(&self, text: &str, out: &mut Vec<u8>) {
        lines(text.as_bytes(), b": ", out);
        out.push(b'\n');
    }
}

/// Every line behind the prefix.
fn lines(text: &[u8], prefix: &[u8], out: &mut Vec<u8>) {
    let mut rest = Some(text);
    while let Some(text) = rest {
        let end = memchr::memchr2(b'\n', b'\r', text);
        let (line, after) = text
            .split_at_checked(end.unwrap_or(text.len()))
            .unwrap_or_default();
        let after = after.strip_prefix(b"\r\n").or_else(|| after.get(1..));
        rest = end.and(after);
        out.extend_from_slice(prefix);
        out.extend_from_slice(line);
        out.push(b'\n');
    }
}
