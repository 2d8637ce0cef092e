//! Reading a text that is known to be canonical: no checks, no copies, ranges of the text.

use std::{borrow::Cow, ops::Range};

/// The elements of the canonical array that begins at `at`. Nothing, if none does.
pub(crate) fn elements(text: &[u8], at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut next = (text.get(at) == Some(&b'[')).then_some(at + 1);
    std::iter::from_fn(move || {
        let start = next.filter(|start| text.get(*start) != Some(&b']'))?;
        let end = skip(text, start)?;
        next = (text.get(end) == Some(&b',')).then_some(end + 1);
        Some(start..end)
    })
}

/// The members of the canonical object that begins at `at`: the key between its quotes, and the range of the value.
pub(crate) fn members(text: &[u8], at: usize) -> impl Iterator<Item = (&[u8], Range<usize>)> + '_ {
    let mut next = (text.get(at) == Some(&b'{')).then_some(at + 1);
    std::iter::from_fn(move || {
        let start = next.filter(|start| text.get(*start) != Some(&b'}'))?;
        let key_end = skip(text, start)?;
        let end = skip(text, key_end + 1)?;
        next = (text.get(end) == Some(&b',')).then_some(end + 1);
        Some((text.get(start + 1..key_end - 1)?, key_end + 1..end))
    })
}

/// The string that a JSON string stands for, quotes included in `text`. None: not a string.
pub(crate) fn decode(text: &[u8]) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice(text).ok().map(Cow::Owned)
}

/// The number that a JSON number stands for. None: not a number.
pub(crate) fn number(text: &[u8]) -> Option<f64> {
    matches!(text.first(), Some(b'-' | b'0'..=b'9'))
        .then(|| std::str::from_utf8(text).ok()?.parse().ok())
        .flatten()
}

/// The end of the value that begins at `at`.
fn skip(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'"' => at = string_end(text, at)?,
            b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' => at += 1,
            _ => {
                let rest = text.get(at..)?;
                let end = rest.iter().position(|b| matches!(b, b',' | b']' | b'}'));
                at += end.unwrap_or(rest.len());
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The position after the closing quote of the string that begins at `at`.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}
