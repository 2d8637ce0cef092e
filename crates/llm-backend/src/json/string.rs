//! Strings: decoded and written again, with as few escapes as JSON allows.

use super::{Error, Kind, scan::Scanner};

// === impl Scanner ===

impl Scanner<'_> {
    /// A string, from its opening quote on: checked, decoded, written with as few escapes as possible. True if the source had any.
    pub(super) fn string(&mut self) -> Result<bool, Error> {
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at += plain(self.text.get(self.at..).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    self.flush();
                    self.escape()?;
                    self.run = self.at;
                    escaped = true;
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
}

/// How many bytes from the start need no look: no quote, no backslash, no control. Eight at a time.
pub(super) fn plain(bytes: &[u8]) -> usize {
    run(
        bytes,
        |word| special(word) & !word,
        |byte| matches!(byte, b'"' | b'\\' | 0..0x20),
    )
}

/// The same, and all of them ASCII.
pub(super) fn plain_ascii(bytes: &[u8]) -> usize {
    run(
        bytes,
        |word| special(word) | word,
        |byte| matches!(byte, b'"' | b'\\' | 0..0x20 | 0x80..),
    )
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = ONES << 7;

/// Sets the high bit of every quote, backslash and control, and maybe of bytes above such a one and of those from 0x80 on.
const fn special(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    word.wrapping_sub(ONES * 0x20) | quote.wrapping_sub(ONES) | slash.wrapping_sub(ONES)
}

/// How many bytes come before the first one that `ends` a run; `found` tells of eight at a time, by their high bits.
#[inline]
fn run(bytes: &[u8], found: impl Fn(u64) -> u64, ends: impl Fn(u8) -> bool) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        // Correctness: a borrow runs from a low byte into higher ones only after a true match below, so the lowest bit that
        // is set marks the first match.
        let found = found(u64::from_le_bytes(*word)) & HIGH;
        if found != 0 {
            return i * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    let end = rest.iter().position(|byte| ends(*byte));
    words.len() * 8 + end.unwrap_or(rest.len())
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

/// The decoded bytes of a canonically escaped string.
pub(super) fn unescaped(text: &[u8]) -> impl Iterator<Item = u8> + '_ {
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
