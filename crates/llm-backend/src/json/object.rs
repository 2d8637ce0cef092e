//! A request body: canonical, with its top-level values at hand.

use std::{fmt, ops::Range};

use bytes::Bytes;

use super::{
    Error,
    scan::{Entry, Scanner},
};

/// A JSON object, scanned once: its canonical form, and where each top-level member lies. See the [module docs](super).
pub struct Object<'a> {
    text: &'a [u8],
    /// `{…}` with the top-level members in the order of the source, everything below them canonical.
    out: Vec<u8>,
    /// Sorted by key.
    entries: Vec<Entry>,
}

/// A top-level member of an [`Object`].
#[derive(Clone, Copy)]
pub struct Member<'o> {
    text: &'o [u8],
    out: &'o [u8],
    entry: Entry,
}

/// The canonical form of any JSON text.
///
/// # Errors
///
/// Where the text is not JSON, is nested too deeply, or has a key twice.
pub fn canonical(text: &[u8]) -> Result<Bytes, Error> {
    let mut scanner = Scanner::new(text)?;
    scanner.any_text()?;
    Ok(scanner.out.into())
}

// === impl Object ===

impl<'a> Object<'a> {
    /// Scans a text that must be one object.
    ///
    /// # Errors
    ///
    /// Where the text is not JSON, not an object, is nested too deeply, or has a key twice.
    pub fn parse(text: &'a [u8]) -> Result<Self, Error> {
        let mut scanner = Scanner::new(text)?;
        scanner.object_text()?;
        Ok(Self {
            text,
            out: scanner.out,
            entries: scanner.members,
        })
    }

    /// The member of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Member<'_>> {
        let find = |entry: &Entry| entry.cmp_name(name, &self.out);
        let at = self.entries.binary_search_by(find).ok()?;
        self.entries.get(at).map(|entry| self.member(entry))
    }

    /// All members, sorted by key.
    #[must_use]
    pub fn members(&self) -> impl ExactSizeIterator<Item = Member<'_>> {
        self.entries.iter().map(|entry| self.member(entry))
    }

    /// The text this was scanned from.
    #[must_use]
    pub const fn source(&self) -> &'a [u8] {
        self.text
    }

    /// The canonical form of the object, without the top-level members named in `ignored`.
    #[must_use]
    pub fn canonical(&self, ignored: &[&str]) -> Bytes {
        // Of most names ignored there is none: one pass tells that.
        let ignore = |entry: &Entry| ignored.iter().any(|name| entry.is(name, &self.out));
        let none = !self.entries.iter().any(ignore);
        let kept = || self.entries.iter().filter(|entry| none || !ignore(entry));
        // Exact, so that the buffer becomes `Bytes` as it is.
        let (length, count) = kept().fold((0, 0), |(sum, n), entry| {
            (sum + entry.end - entry.start, n + 1)
        });
        let commas = usize::saturating_sub(count, 1);
        let mut out = Vec::with_capacity(length + commas + 2);
        out.push(b'{');
        for (i, entry) in kept().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            out.extend_from_slice(self.out.get(entry.start..entry.end).unwrap_or_default());
        }
        out.push(b'}');
        out.into()
    }

    fn member(&self, entry: &Entry) -> Member<'_> {
        Member {
            text: self.text,
            out: &self.out,
            entry: *entry,
        }
    }
}

impl fmt::Debug for Object<'_> {
    /// Names only: values may be somebody's prompt.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.members().map(|m| m.key().escape_ascii().to_string()))
            .finish()
    }
}

// === impl Member ===

impl<'o> Member<'o> {
    /// The key, between its quotes, canonically escaped: for a name without quotes, backslashes and controls, the name.
    #[must_use]
    pub fn key(&self) -> &'o [u8] {
        self.entry.key(self.out)
    }

    /// The value, canonical.
    #[must_use]
    pub fn value(&self) -> &'o [u8] {
        self.out.get(self.entry.value()).unwrap_or_default()
    }

    /// The value as it stands in the source.
    #[must_use]
    pub fn raw(&self) -> &'o [u8] {
        self.text.get(self.raw_range()).unwrap_or_default()
    }

    /// Where the value stands in the source, in bytes.
    #[must_use]
    pub const fn raw_range(&self) -> Range<usize> {
        self.entry.source_start..self.entry.source_end
    }

    /// Where the whole member stands in the source, from the key's opening quote to the end of the value, in bytes.
    #[must_use]
    pub const fn member_range(&self) -> Range<usize> {
        self.entry.source_key..self.entry.source_end
    }
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Member({}, {} bytes)",
            self.key().escape_ascii(),
            self.value().len()
        )
    }
}
