//! Where one event ends and the next begins.

use memchr::memchr2;

/// Finds the ends of events in a stream that arrives in pieces; every byte is looked at once.
///
/// A CR may be a line end of its own or the first half of a CRLF, and the LF may be in the next chunk. Whether to wait for it
/// must not depend on the chunks, so it depends on the stream: after a line that a lone CR ended, a blank line's CR ends the
/// event at once (an LF after it is a blank line more, which says nothing); otherwise the next byte decides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Boundary {
    /// The line has bytes in it.
    in_line: bool,
    /// The line before in this event ended in a lone CR.
    after_cr: bool,
    /// The last byte seen was a CR, and an LF after it belongs to it.
    open: Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    No,
    Line,
    Blank,
}

// === impl Boundary ===

impl Boundary {
    pub(super) const START: Self = Self {
        in_line: false,
        after_cr: false,
        open: Open::No,
    };

    /// How many of these bytes (not none) belong to the event that is open, if it ends here; otherwise all of them do.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        let lf = usize::from(bytes.first() == Some(&b'\n'));
        match self.open {
            Open::No => {}
            Open::Line => {
                self.line_ended(lf == 0);
                at = lf;
            }
            Open::Blank => {
                *self = Self::START;
                return Some(lf);
            }
        }
        while let Some(found) = memchr2(b'\n', b'\r', bytes.get(at..).unwrap_or_default()) {
            let blank = !self.in_line && found == 0;
            let cr = bytes.get(at + found) == Some(&b'\r');
            at += found + 1;
            match bytes.get(at) {
                _ if !cr || (blank && self.after_cr) => {}
                Some(b'\n') => {
                    at += 1;
                    if !blank {
                        self.line_ended(false);
                        continue;
                    }
                }
                Some(_) => {}
                None => {
                    self.open = if blank { Open::Blank } else { Open::Line };
                    return None;
                }
            }
            if blank {
                *self = Self::START;
                return Some(at);
            }
            self.line_ended(cr);
        }
        self.in_line |= at < bytes.len();
        None
    }

    /// Whether the event that is open is whole, if nothing more comes.
    pub(super) fn is_end(&self) -> bool {
        self.open == Open::Blank
    }

    fn line_ended(&mut self, lone_cr: bool) {
        *self = Self {
            in_line: false,
            after_cr: lone_cr,
            open: Open::No,
        };
    }
}
