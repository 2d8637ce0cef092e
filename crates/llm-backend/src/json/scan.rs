//! One pass over a JSON text: checks it and writes its canonical form.

use std::{cmp::Ordering, ops::Range};

use super::{Error, Kind, read::decode};

/// A text nested this deeply is refused (`serde_json` draws the line at the same place).
pub const DEPTH_LIMIT: usize = 128;

/// The state of one pass. Positions named `at` and `source…` are in `text`, all others in `out`.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
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
        self.whitespace();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the text")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), Error> {
        match self.peek() {
            Some(b'"') => self.string(),
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
        self.take(b'[');
        self.whitespace();
        if self.peek() == Some(b']') {
            self.take(b']');
            return Ok(());
        }
        loop {
            self.value(depth)?;
            self.whitespace();
            match self.peek() {
                Some(b',') => self.take(b','),
                Some(b']') => {
                    self.take(b']');
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
        let start = self.out.len() + 1;
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
        self.take(b'{');
        self.whitespace();
        if self.peek() == Some(b'}') {
            self.take(b'}');
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key"));
            }
            let (start, source_key) = (self.out.len(), self.at);
            self.string()?;
            let key_end = self.out.len();
            self.whitespace();
            if self.peek() != Some(b':') {
                return Err(self.expected("`:`"));
            }
            self.take(b':');
            self.whitespace();
            let source_start = self.at;
            self.value(depth)?;
            let (end, source_end) = (self.out.len(), self.at);
            self.members.push(Entry {
                start,
                key_end,
                end,
                source_key,
                source_start,
                source_end,
            });
            self.whitespace();
            match self.peek() {
                Some(b',') => self.take(b','),
                Some(b'}') => {
                    self.take(b'}');
                    return Ok(());
                }
                _ => return Err(self.expected("`,` or `}`")),
            }
            self.whitespace();
        }
    }

    /// Sorts the members from `base` on; true if they were not in order. A key that appears twice is an error.
    fn sort(&mut self, base: usize) -> Result<bool, Error> {
        let out = &self.out;
        let Some(members) = self.members.get_mut(base..) else {
            return Ok(false);
        };
        if members.is_sorted_by(|a, b| order(a.key(out), b.key(out)) == Ordering::Less) {
            return Ok(false);
        }
        // Stable: of two equal keys the second in the source comes second, and it is the one to name.
        members.sort_by(|a, b| order(a.key(out), b.key(out)));
        for (one, two) in members.iter().zip(members.iter().skip(1)) {
            if one.key(out) == two.key(out) {
                let quoted = out.get(two.start..two.key_end).unwrap_or_default();
                let name = decode(quoted).unwrap_or_default().into_owned();
                return Err(Error::new(Kind::DuplicateKey(name), two.source_key));
            }
        }
        Ok(true)
    }

    fn string(&mut self) -> Result<(), Error> {
        let mut run = self.at;
        self.at += 1;
        loop {
            self.at += plain(self.text.get(self.at..).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    self.copy(run);
                    return Ok(());
                }
                Some(b'\\') => {
                    self.copy(run);
                    self.escape()?;
                    run = self.at;
                }
                Some(_) => return Err(self.expected("no control character in a string")),
                None => return Err(self.expected("the end of a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Error> {
        let start = self.at;
        self.at += 1;
        let Some(byte) = self.peek() else {
            return Err(self.expected("an escape"));
        };
        let char = match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode(start);
            }
            _ => return Err(self.expected("an escape")),
        };
        self.at += 1;
        push_char(&mut self.out, char);
        Ok(())
    }

    fn unicode(&mut self, start: usize) -> Result<(), Error> {
        let lone = Error::new(Kind::Syntax("a surrogate in a pair"), start);
        let mut unit = self.hex()?;
        if let 0xD800..=0xDBFF = unit {
            if self.text.get(self.at..self.at + 2) != Some(b"\\u") {
                return Err(lone);
            }
            self.at += 2;
            let low = self.hex()?;
            if !(0xDC00..=0xDFFF).contains(&low) {
                return Err(lone);
            }
            unit = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        }
        push_char(&mut self.out, char::from_u32(unit).ok_or(lone)?);
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, Error> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            unit = unit << 4 | digit.ok_or_else(|| self.expected("four hex digits"))?;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<(), Error> {
        let start = self.at;
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
        self.copy(start);
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
        let start = self.at;
        for byte in word {
            if self.peek() != Some(*byte) {
                return Err(self.expected("a value"));
            }
            self.at += 1;
        }
        self.copy(start);
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Steps over a byte that was just seen, and writes it.
    fn take(&mut self, byte: u8) {
        self.at += 1;
        self.out.push(byte);
    }

    /// Writes the source from `start` up to here, verbatim.
    fn copy(&mut self, start: usize) {
        self.out
            .extend_from_slice(self.text.get(start..self.at).unwrap_or_default());
    }

    fn whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, Error> {
        match depth.checked_sub(1) {
            None | Some(0) => Err(Error::new(Kind::TooDeep, self.at)),
            Some(depth) => Ok(depth),
        }
    }

    const fn expected(&self, what: &'static str) -> Error {
        Error::new(Kind::Syntax(what), self.at)
    }
}

/// How many bytes from the start need no look: no quote, no backslash, no control. Eight at a time.
fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quote = word ^ (ONES * b'"' as u64);
        let slash = word ^ (ONES * b'\\' as u64);
        // Correctness: a borrow runs from a low byte into higher ones only after a true match below, so the lowest bit that
        // is set marks the first match. Bytes of 0x80 and above are masked out by `!word`.
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = quote.wrapping_sub(ONES) & !quote;
        let slash = slash.wrapping_sub(ONES) & !slash;
        let found = (control | quote | slash) & HIGH;
        if found != 0 {
            return i * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    let special = |b: &u8| matches!(b, b'"' | b'\\' | 0..0x20);
    words.len() * 8 + rest.iter().position(special).unwrap_or(rest.len())
}

/// Writes one character of a string with the shortest escape JSON has for it, or none.
pub(super) fn push_char(out: &mut Vec<u8>, char: char) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let short = match char {
        '"' | '\\' => char,
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\0'..' ' => {
            let code = char as usize;
            out.extend_from_slice(b"\\u00");
            for digit in [code >> 4, code & 0xF] {
                out.push(HEX.get(digit).map_or(b'0', |c| *c as u8));
            }
            return;
        }
        _ => {
            out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            return;
        }
    };
    out.push(b'\\');
    out.push(short as u8);
}

/// The order of two keys by their decoded bytes. Escapes are rare, so they are only decoded where there are some.
pub(super) fn order(a: &[u8], b: &[u8]) -> Ordering {
    if a.contains(&b'\\') || b.contains(&b'\\') {
        return unescaped(a).cmp(unescaped(b));
    }
    a.cmp(b)
}

/// The decoded bytes of a canonically escaped string.
fn unescaped(text: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mut bytes = text.iter().copied();
    std::iter::from_fn(move || {
        let byte = bytes.next()?;
        if byte != b'\\' {
            return Some(byte);
        }
        Some(match bytes.next()? {
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut hex = bytes
                    .by_ref()
                    .take(4)
                    .filter_map(|b| char::from(b).to_digit(16));
                hex.by_ref().fold(0, |code, digit| code << 4 | digit) as u8
            }
            other => other,
        })
    })
}
