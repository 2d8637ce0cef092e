//! One pass over a JSON text: checks it and writes its canonical form.

use std::{cmp::Ordering, ops::Range};

use super::{Error, Kind, read::decode, string::unescaped};

/// A text nested this deeply is refused (`serde_json` draws the line at the same place).
pub const DEPTH_LIMIT: usize = 128;

/// The state of one pass. Positions named `at`, `run` and `source…` are in `text`, all others in `out`.
///
/// What is canonical already is copied in runs, not token by token: the source from `run` up to `at` is accepted and not yet
/// in `out`.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) run: usize,
    pub(super) out: Vec<u8>,
    /// The members of all objects that are open now, the innermost last.
    pub(super) members: Vec<Entry>,
    /// Where members are put in order; kept between objects.
    scratch: Vec<u8>,
}

/// One member of an object, as it was written: `"key":value`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) start: usize,
    pub(super) key_end: usize,
    /// The key had escapes in the source, and may still have some.
    pub(super) escaped: bool,
    pub(super) end: usize,
    pub(super) source_key: usize,
    pub(super) source_start: usize,
    pub(super) source_end: usize,
}

// === impl Entry ===

impl Entry {
    /// The key between its quotes, canonically escaped.
    pub(super) fn key<'o>(&self, out: &'o [u8]) -> &'o [u8] {
        out.get(self.start + 1..self.key_end.saturating_sub(1))
            .unwrap_or_default()
    }

    pub(super) const fn value(&self) -> Range<usize> {
        self.key_end + 1..self.end
    }

    /// The order of two members by their decoded keys.
    fn order(&self, other: &Self, out: &[u8]) -> Ordering {
        if self.escaped || other.escaped {
            return unescaped(self.key(out)).cmp(unescaped(other.key(out)));
        }
        self.key(out).cmp(other.key(out))
    }

    /// The order of the decoded key and this one.
    pub(super) fn cmp_name(&self, name: &str, out: &[u8]) -> Ordering {
        if self.escaped {
            return unescaped(self.key(out)).cmp(name.bytes());
        }
        self.key(out).cmp(name.as_bytes())
    }

    /// Whether the decoded key is this one.
    pub(super) fn is(&self, name: &str, out: &[u8]) -> bool {
        if self.escaped {
            return self.cmp_name(name, out) == Ordering::Equal;
        }
        self.key(out) == name.as_bytes()
    }
}

// === impl Scanner ===

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8]) -> Result<Self, Error> {
        if let Err(error) = std::str::from_utf8(text) {
            return Err(Error::new(Kind::Utf8, error.valid_up_to()));
        }
        Ok(Self {
            text,
            at: 0,
            run: 0,
            // Canonical text is never longer than its source.
            out: Vec::with_capacity(text.len()),
            members: Vec::with_capacity(16),
            scratch: Vec::new(),
        })
    }

    /// Scans a whole text that must be an object and leaves its members, sorted, in `members`.
    pub(super) fn object_text(&mut self) -> Result<(), Error> {
        self.whitespace();
        if self.peek() == Some(b'{') {
            self.members(DEPTH_LIMIT)?;
            self.sort(0)?;
            return self.end();
        }
        let start = self.at;
        self.value(DEPTH_LIMIT)?;
        self.end()?;
        Err(Error::new(Kind::NotAnObject, start))
    }

    /// Scans a whole text of any kind.
    pub(super) fn any_text(&mut self) -> Result<(), Error> {
        self.whitespace();
        self.value(DEPTH_LIMIT)?;
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        self.flush();
        self.whitespace();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the text")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), Error> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            _ => Err(self.expected("a value")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), Error> {
        let depth = self.deeper(depth)?;
        self.at += 1;
        self.whitespace();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth)?;
            self.whitespace();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.expected("`,` or `]`")),
            }
            self.whitespace();
        }
    }

    /// A nested object: its members are put in order where they stand.
    fn object(&mut self, depth: usize) -> Result<(), Error> {
        let base = self.members.len();
        let start = self.position() + 1;
        self.members(depth)?;
        if self.sort(base)? {
            self.scratch.clear();
            for (i, member) in self.members.iter().skip(base).enumerate() {
                if i > 0 {
                    self.scratch.push(b',');
                }
                let text = self.out.get(member.start..member.end).unwrap_or_default();
                self.scratch.extend_from_slice(text);
            }
            self.scratch.push(b'}');
            self.out.truncate(start);
            self.out.append(&mut self.scratch);
        }
        self.members.truncate(base);
        Ok(())
    }

    /// `{…}` in the order of the source; the members stay on the stack.
    fn members(&mut self, depth: usize) -> Result<(), Error> {
        let depth = self.deeper(depth)?;
        self.at += 1;
        self.whitespace();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key"));
            }
            let (start, source_key) = (self.position(), self.at);
            let escaped = self.string()?;
            let key_end = self.position();
            self.whitespace();
            if self.peek() != Some(b':') {
                return Err(self.expected("`:`"));
            }
            self.at += 1;
            self.whitespace();
            let source_start = self.at;
            self.value(depth)?;
            let (end, source_end) = (self.position(), self.at);
            self.members.push(Entry {
                start,
                key_end,
                escaped,
                end,
                source_key,
                source_start,
                source_end,
            });
            self.whitespace();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.expected("`,` or `}`")),
            }
            self.whitespace();
        }
    }

    /// Sorts the members from `base` on; true if they were not in order. A key that appears twice is an error.
    fn sort(&mut self, base: usize) -> Result<bool, Error> {
        self.flush();
        let out = &self.out;
        let Some(members) = self.members.get_mut(base..) else {
            return Ok(false);
        };
        if members.is_sorted_by(|a, b| a.order(b, out) == Ordering::Less) {
            return Ok(false);
        }
        // Stable: of two equal keys the second in the source comes second, and it is the one to name.
        members.sort_by(|a, b| a.order(b, out));
        for (one, two) in members.iter().zip(members.iter().skip(1)) {
            if one.key(out) == two.key(out) {
                let quoted = out.get(two.start..two.key_end).unwrap_or_default();
                let name = decode(quoted).unwrap_or_default().into_owned();
                return Err(Error::new(Kind::DuplicateKey(name), two.source_key));
            }
        }
        Ok(true)
    }

    fn number(&mut self) -> Result<(), Error> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.peek() {
                return Err(self.expected("no digit after a leading zero"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            Err(self.expected("a digit"))
        } else {
            Ok(())
        }
    }

    fn literal(&mut self, word: &'static [u8]) -> Result<(), Error> {
        for byte in word {
            if self.peek() != Some(*byte) {
                return Err(self.expected("a value"));
            }
            self.at += 1;
        }
        Ok(())
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Where in `out` the next accepted byte will be.
    const fn position(&self) -> usize {
        self.out.len() + (self.at - self.run)
    }

    /// Writes the run up to here.
    pub(super) fn flush(&mut self) {
        self.out
            .extend_from_slice(self.text.get(self.run..self.at).unwrap_or_default());
        self.run = self.at;
    }

    fn whitespace(&mut self) {
        if !matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            return;
        }
        self.flush();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
        self.run = self.at;
    }

    fn deeper(&self, depth: usize) -> Result<usize, Error> {
        match depth.checked_sub(1) {
            None | Some(0) => Err(Error::new(Kind::TooDeep, self.at)),
            Some(depth) => Ok(depth),
        }
    }

    pub(super) const fn expected(&self, what: &'static str) -> Error {
        Error::new(Kind::Syntax(what), self.at)
    }
}
