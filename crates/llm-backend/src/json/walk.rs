//! A walk over a JSON text that checks all of it, and writes and allocates nothing.
//!
//! What it lets pass, `serde_json` skips as well: neither looks at the UTF-8 in what it skips. The reverse does not hold: it
//! gives up (`None`) where somebody would have to look closer, at deep nesting and at keys that are more than plain ASCII.

use super::string::{plain, plain_ascii};

/// Where a walk has come to.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    text: &'a [u8],
    at: usize,
}

/// Nesting that is walked; far more than answers have, and far less than a stack.
const DEPTH: usize = 32;

// === impl Walk ===

impl<'a> Walk<'a> {
    /// A walk from the first value on.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let mut walk = Self { text, at: 0 };
        walk.whitespace();
        walk
    }

    /// Nothing but whitespace is left.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.whitespace();
        self.peek().is_none().then_some(())
    }

    /// Passes an object. `member` gets each key, and passes its value.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a [u8]) -> Option<()>,
    ) -> Option<()> {
        self.sequence(b'{', b'}', |walk| {
            let key = walk.string()?;
            walk.whitespace();
            walk.byte(b':')?;
            walk.whitespace();
            member(walk, key)
        })
    }

    /// Passes an array. `element` passes each element.
    pub(crate) fn array(&mut self, element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.sequence(b'[', b']', element)
    }

    /// Passes a string of ASCII without escapes, and tells it.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        self.byte(b'"')?;
        let rest = self.rest();
        let string = rest.get(..plain_ascii(rest))?;
        self.at += string.len();
        self.byte(b'"')?;
        Some(string)
    }

    /// Passes `null`, if that is what comes.
    pub(crate) fn null(&mut self) -> Option<()> {
        self.word(b"null")
    }

    /// Passes any value.
    pub(crate) fn value(&mut self) -> Option<()> {
        self.nested(DEPTH)
    }

    fn nested(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.any_string(),
            b'{' => {
                let depth = depth.checked_sub(1)?;
                self.object(|walk, _| walk.nested(depth))
            }
            b'[' => {
                let depth = depth.checked_sub(1)?;
                self.array(|walk| walk.nested(depth))
            }
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.null(),
            _ => self.number(),
        }
    }

    fn sequence(
        &mut self,
        open: u8,
        close: u8,
        mut element: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.byte(open)?;
        self.whitespace();
        if self.byte(close).is_some() {
            return Some(());
        }
        loop {
            element(self)?;
            self.whitespace();
            if self.byte(close).is_some() {
                return Some(());
            }
            self.byte(b',')?;
            self.whitespace();
        }
    }

    fn any_string(&mut self) -> Option<()> {
        self.byte(b'"')?;
        loop {
            self.at += plain(self.rest());
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => match self.next()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => {
                        let digits = self.rest().get(..4)?;
                        digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                        self.at += 4;
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// Passes a number, and tells how it is written.
    pub(crate) fn digits(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        self.number()?;
        self.text.get(start..self.at)
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.byte(b'-');
        if self.byte(b'0').is_none() {
            self.some_digits()?;
        }
        if self.byte(b'.').is_some() {
            self.some_digits()?;
        }
        if self.byte(b'e').or_else(|| self.byte(b'E')).is_some() {
            let _ = self.byte(b'+').or_else(|| self.byte(b'-'));
            self.some_digits()?;
        }
        Some(())
    }

    fn some_digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest().starts_with(word).then_some(())?;
        self.at += word.len();
        Some(())
    }

    #[inline]
    fn whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn byte(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }
}
