//! Changing some values of a request, and no other byte.

use std::ops::Range;

use bytes::Bytes;

use super::Object;

/// Changes to the source of an object.
#[derive(Debug)]
pub(crate) struct Edits<'o, 'a> {
    object: &'o Object<'a>,
    changes: Vec<(Range<usize>, String)>,
    /// Members that were not there.
    front: String,
}

// === impl Edits ===

impl<'o, 'a> Edits<'o, 'a> {
    pub(crate) const fn new(object: &'o Object<'a>) -> Self {
        Self {
            object,
            changes: Vec::new(),
            front: String::new(),
        }
    }

    /// Gives a member this (canonical) value. One that was not there comes first; its name has nothing to escape.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        match self.object.get(name) {
            Some(member) if member.value() == value.as_bytes() => {}
            Some(member) => self.replace(member.raw_range(), value.to_owned()),
            None => self.front.push_str(&format!("\"{name}\":{value},")),
        }
    }

    /// Gives a member this value if it has none, or null.
    pub(crate) fn set_default(&mut self, name: &str, value: &str) {
        if self
            .object
            .get(name)
            .is_none_or(|member| member.value() == b"null")
        {
            self.set(name, value);
        }
    }

    /// Replaces a range of the source. Ranges must not overlap.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: String) {
        self.changes.push((range, text));
    }

    /// The source with the changes made; None if there are none.
    pub(crate) fn apply(mut self) -> Option<Bytes> {
        let source = self.object.source();
        if !self.front.is_empty() {
            if self.object.members().len() == 0 {
                self.front.pop();
            }
            let open = source.iter().position(|b| *b == b'{')? + 1;
            self.changes.push((open..open, self.front));
        }
        self.changes.sort_unstable_by_key(|(range, _)| range.start);
        let more: usize = self.changes.iter().map(|(_, text)| text.len()).sum();
        let mut out = Vec::with_capacity(source.len() + more);
        let mut at = 0;
        for (range, text) in &self.changes {
            out.extend_from_slice(source.get(at..range.start)?);
            out.extend_from_slice(text.as_bytes());
            at = range.end;
        }
        out.extend_from_slice(source.get(at..)?);
        (!self.changes.is_empty()).then(|| out.into())
    }
}
