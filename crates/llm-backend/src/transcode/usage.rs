//! A stream with usage for a caller who did not ask for it.

use std::ops::Range;

use bytes::Bytes;
use memchr::memmem;

use crate::{
    json::Object,
    sse::{Block, Decoder, Encoder, Error},
};

/// Whether a stream tells the usage. `"usage": null`, which some servers put in every chunk, tells nothing.
///
/// One look over the bytes, without decoding events.
///
/// ```
/// use llm_backend::transcode::tells_usage;
///
/// assert!(tells_usage(b"data: {\"choices\":[],\"usage\": {\"total_tokens\":3}}\n\n"));
/// assert!(!tells_usage(b"data: {\"choices\":[],\"usage\":null}\n\n"));
/// ```
#[must_use]
pub fn tells_usage(stream: &[u8]) -> bool {
    // Within a string the quotes would be escaped; a string of this very text has no colon and brace behind it.
    memmem::find_iter(stream, NAME).any(|at| {
        let after = stream.get(at + NAME.len()..).unwrap_or_default();
        let value = after
            .trim_ascii_start()
            .strip_prefix(b":")
            .map(<[u8]>::trim_ascii_start);
        value.is_some_and(|value| value.starts_with(b"{"))
    })
}

const NAME: &[u8] = b"\"usage\"";

/// Takes usage out of a stream: the chunk that has nothing else is dropped, the field in others is cut out. All other bytes,
/// comments included, stay as they are.
///
/// # Errors
///
/// If an event is larger than [`Decoder::DEFAULT_LIMIT`].
pub fn strip_usage(stream: &Bytes) -> Result<Bytes, Error> {
    let mut filter = UsageFilter::new();
    let mut out = Vec::with_capacity(stream.len());
    let mut input = stream.clone();
    while let Some(block) = filter.push(&mut input)? {
        out.extend_from_slice(&block);
    }
    out.extend_from_slice(&filter.finish());
    Ok(if out.len() == stream.len() {
        stream.clone()
    } else {
        out.into()
    })
}

/// Takes usage out of a stream while it passes; see [`strip_usage`].
///
/// It holds an event back until it is whole, no longer.
#[derive(Debug, Default)]
pub struct UsageFilter {
    decoder: Decoder,
}

// === impl UsageFilter ===

impl UsageFilter {
    /// For one stream, with events of up to [`Decoder::DEFAULT_LIMIT`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next bytes to hand on, from the front of `input`. None once it is used up.
    ///
    /// # Errors
    ///
    /// If an event is over the limit.
    pub fn push(&mut self, input: &mut Bytes) -> Result<Option<Bytes>, Error> {
        while let Some(block) = self.decoder.block(input)? {
            if let Some(bytes) = without_usage(block) {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// What is left once the stream has ended: nothing, if it ended between two events. An event that was cut off is handed on
    /// as it is, so that the caller sees it was cut.
    #[must_use]
    pub fn finish(mut self) -> Bytes {
        match self.decoder.finish() {
            Some(block) => without_usage(block).unwrap_or_default(),
            None => Bytes::copy_from_slice(self.decoder.remainder()),
        }
    }
}

/// The block without usage. None: nothing is left of it.
fn without_usage(block: Block) -> Option<Bytes> {
    if memmem::find(block.raw(), NAME).is_none() {
        return Some(block.into_raw());
    }
    let Some(event) = block.event() else {
        return Some(block.into_raw());
    };
    let cut = match cut_usage(&event.data) {
        Cut::Nothing => return Some(block.into_raw()),
        Cut::All => return None,
        Cut::Member(range) => range,
    };
    let mut out = Vec::with_capacity(block.raw().len());
    match block.data_range() {
        Some(data) => {
            let (from, to) = (data.start + cut.start, data.start + cut.end);
            out.extend_from_slice(block.raw().get(..from)?);
            out.extend_from_slice(block.raw().get(to..)?);
        }
        None => {
            let data = [event.data.get(..cut.start)?, event.data.get(cut.end..)?].concat();
            let mut event = event;
            event.data = data.into();
            Encoder.event(&event, &mut out);
        }
    }
    Some(out.into())
}

enum Cut {
    Nothing,
    Member(Range<usize>),
    All,
}

fn cut_usage(data: &[u8]) -> Cut {
    let Ok(object) = Object::parse(data) else {
        return Cut::Nothing;
    };
    let Some(usage) = object.get("usage") else {
        return Cut::Nothing;
    };
    let bare = object
        .get("choices")
        .is_some_and(|choices| choices.value() == b"[]");
    if bare && usage.value() != b"null" {
        return Cut::All;
    }
    let is_blank = |b: &&u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
    let Range { mut start, mut end } = usage.member_range();
    let after = data.get(end..).unwrap_or_default();
    let comma = after.iter().take_while(is_blank).count();
    if after.get(comma) == Some(&b',') {
        let rest = after.get(comma + 1..).unwrap_or_default();
        end += comma + 1 + rest.iter().take_while(is_blank).count();
    } else {
        let before = data.get(..start).unwrap_or_default();
        start -= before.iter().rev().take_while(is_blank).count();
        if start.checked_sub(1).and_then(|at| data.get(at)) == Some(&b',') {
            start -= 1;
        }
    }
    Cut::Member(start..end)
}
