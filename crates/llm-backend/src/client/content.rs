//! Whether an answer is whole that ends where its connection does.
//!
//! An answer with neither a length nor chunks ends when the server closes the connection, and so does one whose server died:
//! HTTP cannot tell them apart (RFC 9112, section 8). The content can. A stream is whole if its events say that it is over, a
//! JSON text if its value is closed.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Response, Version};
use http_body::Body;
use memchr::memchr2;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::complete::Form;
use crate::sse::{DONE, Decoder, Event};

/// The content of an answer without framing, as far as it has come.
#[derive(Debug)]
pub(super) enum Content {
    Body(Value),
    Stream(Events),
}

/// One JSON text. It is not validated: a text that was cut off is one that was not closed.
#[derive(Debug, Default)]
pub(super) struct Value {
    any: bool,
    depth: usize,
    place: Place,
}

#[derive(Debug, Default)]
enum Place {
    #[default]
    Between,
    InString,
    AfterBackslash,
}

/// The events of a stream. At most one unfinished event is kept, of [`Decoder::DEFAULT_LIMIT`] bytes; of a stream with a larger
/// one it is not known where it ends.
#[derive(Debug, Default)]
pub(super) struct Events {
    decoder: Decoder,
    any: bool,
    /// `[DONE]` came, or an error.
    over: bool,
    /// Whether the choice of that index has a finish reason; none if no event is about choices.
    choices: Option<Vec<bool>>,
    lost: bool,
}

/// The parts of an event that say whether something is to follow.
#[derive(Deserialize)]
struct Chunk<'a> {
    error: Option<IgnoredAny>,
    #[serde(borrow)]
    object: Option<Cow<'a, str>>,
    choices: Option<Vec<Choice>>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<usize>,
    finish_reason: Option<IgnoredAny>,
}

// === impl Content ===

impl Content {
    /// What has to be read to know that the answer is whole. None where its framing tells, or where nothing does.
    pub(super) fn unframed<B: Body>(response: &Response<B>) -> Option<Self> {
        let headers = response.headers();
        let framed = response.version() > Version::HTTP_11
            || response.body().size_hint().exact().is_some()
            || is_framed(headers);
        if framed || is_encoded(headers) {
            return None;
        }
        Some(match Form::of(headers.get(header::CONTENT_TYPE))? {
            Form::Body => Self::Body(Value::default()),
            Form::Stream => Self::Stream(Events::default()),
        })
    }

    pub(super) fn read(&mut self, bytes: &Bytes) {
        match self {
            Self::Body(value) => value.read(bytes),
            Self::Stream(events) => events.read(bytes.clone()),
        }
    }

    /// Whether it is whole if nothing more comes.
    pub(super) fn ends_whole(self) -> bool {
        match self {
            Self::Body(value) => value.is_whole(),
            Self::Stream(events) => events.ends_whole(),
        }
    }
}

/// Whether the end shows: by a last coding that is `chunked`, or by a length, which any coding makes void (RFC 9112, section 6.3).
fn is_framed(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    match codings.next_back().map(HeaderValue::as_bytes) {
        Some(codings) => codings
            .rsplit(|byte| *byte == b',')
            .next()
            .is_some_and(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked")),
        None => headers.contains_key(header::CONTENT_LENGTH),
    }
}

/// It was asked not to be.
fn is_encoded(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_ENCODING)
        .is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

// === impl Value ===

impl Value {
    fn read(&mut self, mut rest: &[u8]) {
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            self.place = match (&self.place, byte) {
                (Place::Between, b'"') => {
                    self.any = true;
                    Place::InString
                }
                (Place::Between, _) => {
                    self.any |= !byte.is_ascii_whitespace();
                    match byte {
                        b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                        b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                    Place::Between
                }
                (Place::InString, b'"') => Place::Between,
                (Place::InString, b'\\') => Place::AfterBackslash,
                (Place::InString, _) => {
                    let plain = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                    rest = rest.get(plain..).unwrap_or_default();
                    Place::InString
                }
                (Place::AfterBackslash, _) => Place::InString,
            };
        }
    }

    /// A number or a literal alone does not show where it ends, and no answer is one: it is taken as it is.
    fn is_whole(&self) -> bool {
        self.any && self.depth == 0 && matches!(self.place, Place::Between)
    }
}

// === impl Events ===

impl Events {
    /// More choices than any server makes; a stream with an index above is not followed.
    const MAX_CHOICES: usize = 4096;

    fn read(&mut self, mut bytes: Bytes) {
        // Once over its limit the decoder stays in error, and never at the boundary of an event.
        while let Ok(Some(event)) = self.decoder.decode(&mut bytes) {
            self.event(&event);
        }
    }

    fn event(&mut self, event: &Event) {
        self.any |= event.data != "null";
        self.over |= event.is_done() || event.name.as_deref() == Some(b"error");
        // What is no such chunk is of another dialect, about whose end nothing is known.
        let Ok(Some(chunk)) = serde_json::from_slice::<Option<Chunk<'_>>>(&event.data) else {
            return;
        };
        self.over |= chunk.error.is_some() || chunk.object.as_deref() == Some("error");
        let Some(now) = chunk.choices else {
            return;
        };
        let choices = self.choices.get_or_insert_default();
        for choice in now {
            let index = choice.index.unwrap_or(0);
            if index >= Self::MAX_CHOICES {
                self.lost = true;
                continue;
            }
            if choices.len() <= index {
                choices.resize(index + 1, false);
            }
            if let Some(ended) = choices.get_mut(index) {
                *ended |= choice.finish_reason.is_some();
            }
        }
    }

    fn ends_whole(mut self) -> bool {
        if let Some(event) = self.decoder.finish().and_then(|block| block.event()) {
            self.event(&event);
        }
        // Some servers leave out the last blank line; after this event nothing is missing.
        let last = self.decoder.remainder().strip_prefix(b"data:");
        if last.is_some_and(|data| data.trim_ascii() == DONE) {
            return true;
        }
        let over = match &self.choices {
            Some(choices) => {
                !self.lost && !choices.is_empty() && choices.iter().all(|ended| *ended)
            }
            None => self.any,
        };
        self.decoder.is_boundary() && (self.over || over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: &str = "data: {\"choices\":[{\"index\":0,\"finish_reason\":null}]}\n\n";
    const STOP: &str = "data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}\n\n";

    fn value(text: &str, piece: usize) -> bool {
        let mut content = Content::Body(Value::default());
        for piece in text.as_bytes().chunks(piece) {
            content.read(&Bytes::copy_from_slice(piece));
        }
        content.ends_whole()
    }

    fn events(text: &str, piece: usize) -> bool {
        let mut content = Content::Stream(Events::default());
        for piece in text.as_bytes().chunks(piece) {
            content.read(&Bytes::copy_from_slice(piece));
        }
        content.ends_whole()
    }

    #[test]
    fn a_value_is_whole_at_its_end_and_at_no_byte_before() {
        for text in [
            r#"{"a":"}]\"}","b":[1,{"c":"\\"},"\u0022"],"d":{}}"#,
            r#" [{"é":"{["}]"#,
            r#""a\"b""#,
        ] {
            for piece in [1, 2, 3, 7, 1024] {
                for (end, _) in text.char_indices().skip(1) {
                    let cut = &text[..end];
                    assert!(cut.trim().is_empty() || !value(cut, piece), "{cut}");
                }
                assert!(value(text, piece) && value(&format!("{text}\n"), piece));
            }
        }
        assert!(!value("", 1) && !value(" \r\n", 1));
        assert!(value("true", 1) && value("1.5", 1));
    }

    #[test]
    fn a_stream_is_whole_once_every_choice_has_ended_and_never_within_an_event() {
        let usage = "data: {\"choices\":[],\"usage\":{}}\n\n";
        let text = format!(": hi\n\n{HELLO}{HELLO}{STOP}{usage}data: [DONE]\n\n");
        let starts = text.find(STOP).unwrap();
        let stop = starts + STOP.len();
        let done = text.len() - "\n\n".len();
        let whole = [stop, stop + usage.len(), done, done + 1, done + 2];
        for piece in [1, 2, 3, 7, 1024] {
            for end in 0..=text.len() {
                assert_eq!(
                    events(&text[..end], piece),
                    whole.contains(&end),
                    "{:?}",
                    &text[..end]
                );
            }
        }
    }

    #[test]
    fn each_choice_ends_by_itself_and_one_that_is_missing_never_began() {
        let other = STOP.replace("0", "1");
        for (text, whole) in [
            (format!("{HELLO}{other}"), false),
            (other.clone(), false),
            (format!("{other}{STOP}"), true),
            (format!("{STOP}{HELLO}"), true),
            (STOP.replace("stop", "content_filter"), true),
            (STOP.replace("0", "5000"), false),
            (STOP.replace("\"index\":0,", ""), true),
            ("data: {\"choices\":[]}\n\n".into(), false),
            ("data: null\n\n".into(), false),
        ] {
            assert_eq!(events(&text, 5), whole, "{text}");
        }
    }

    #[test]
    fn an_error_ends_a_stream() {
        for error in [
            "data: {\"error\":{\"message\":\"no\"}}\n\n",
            "data: {\"object\":\"error\",\"message\":\"no\"}\n\n",
            "event: error\ndata: no\n\n",
        ] {
            let text = format!("{HELLO}{error}");
            assert!(events(&text, 4), "{error}");
            assert!(!events(text.strip_suffix('\n').unwrap(), 4), "{error}");
        }
        assert!(!events(&format!("{HELLO}data: {{\"error\":null}}\n\n"), 4));
    }

    #[test]
    fn a_stream_of_lone_carriage_returns_ends_in_one() {
        let text = format!("{HELLO}{STOP}").replace('\n', "\r");
        assert!(events(&text, 9) && events(&text, 1));
        assert!(!events(text.strip_suffix('\r').unwrap(), 9));
    }

    #[test]
    fn a_stream_of_another_dialect_ends_where_an_event_does() {
        let text = "event: token\ndata: {\"text\":\"Hello\"}\n\n";
        assert!(events(text, 6));
        assert!(!events(text.trim_end(), 6));
        assert!(!events("", 1) && !events(": still here\n\n", 3));
    }

    #[test]
    fn what_is_kept_of_an_endless_event_is_bounded() {
        let mut content = Events::default();
        let piece = Bytes::from(vec![b'x'; 1 << 20]);
        for _ in 0..16 {
            content.read(piece.clone());
        }
        assert!(content.decoder.remainder().len() <= Decoder::DEFAULT_LIMIT);
        content.read(Bytes::from_static(b"\n\ndata: [DONE]\n\n"));
        assert!(!content.ends_whole());
    }
}
