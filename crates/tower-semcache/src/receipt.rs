//! Names for answers that were given out, for who may say later that one was bad.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::cache::EntryId;
use crate::lookup::Lookup;
use crate::outcome::Outcome;
use crate::scope::{Digest, Scope, Secret};

/// Which answer a request got: enough to take it back later, without the request.
///
/// [Sealed](Self::seal), it is a text that can be handed to a caller: it tells nothing, cannot be made
/// up, and opens for nobody but its holder. The store keeps nothing for it.
///
/// ```
/// use tower_semcache::{Cache, Lookup, Outcome, Receipt, Secret};
///
/// # fn main() -> Result<(), tower_semcache::error::InvalidSetting> {
/// let secret = Secret::random();
/// let cache: Cache<String> = Cache::builder().build()?;
/// let lookup = Lookup::new(&secret, secret.scope(&[("tenant", b"a")]), "why?".into());
/// cache.insert(&lookup, "because".to_owned()).expect("it fits");
/// let outcome = cache.get(&lookup).expect("a hit").outcome();
///
/// let (mine, theirs) = (secret.scope(&[("holder", b"a")]), secret.scope(&[("holder", b"b")]));
/// let text = Receipt::new(&lookup, &outcome).seal(&secret, &mine);
/// assert_eq!(Receipt::open(&text, &secret, &theirs), None);
/// let receipt = Receipt::open(&text, &secret, &mine).expect("sealed for me");
/// assert!(cache.retract(&receipt));
/// assert!(cache.get(&lookup).is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    pub(crate) asked: Digest,
    pub(crate) entry: Option<EntryId>,
}

/// What kind of answer it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Given {
    /// A fresh one, which may have been stored under the request.
    Fresh,
    /// That to an equal request.
    Equal,
    /// That to a similar request.
    Similar,
}

const TAG: usize = 16;
const DIGEST: usize = 32;
const NUMBER: usize = 8;
/// Lengths of what is sealed: the asked request alone, or the number of an entry, its request and the asked one.
const FRESH: usize = DIGEST;
const SIMILAR: usize = NUMBER + 2 * DIGEST;

// === impl Receipt ===

impl Receipt {
    /// For whoever got an answer of this outcome to the request of this look-up.
    #[must_use]
    pub const fn new(lookup: &Lookup, outcome: &Outcome) -> Self {
        let entry = match outcome {
            Outcome::Hit { entry, .. } => Some(*entry),
            _ => None,
        };
        Self {
            asked: lookup.key,
            entry,
        }
    }

    /// What kind of answer it was.
    #[must_use]
    pub fn given(&self) -> Given {
        match &self.entry {
            None => Given::Fresh,
            Some(entry) if entry.key == self.asked => Given::Equal,
            Some(_) => Given::Similar,
        }
    }

    /// As a text of letters, digits, `-` and `_`: 64, 75 or 118 of them. Whoever opens it needs the same secret and
    /// the same `holder`, a digest of who may.
    ///
    /// Two hashes and one allocation. The same receipt gives the same text.
    #[must_use]
    pub fn seal(&self, secret: &Secret, holder: &Scope) -> String {
        let mut sealed = [0; TAG + SIMILAR];
        let (tag, content) = sealed.split_at_mut(TAG);
        let length = self.write(content);
        let content = content.get_mut(..length).unwrap_or_default();
        // The tag is a digest of the content, and what hides the content is made of the tag: there is no
        // number that must not come twice.
        tag.copy_from_slice(&secret.receipt_tag(holder, content));
        hide(content, secret, tag);
        URL_SAFE_NO_PAD.encode(sealed.get(..TAG + length).unwrap_or_default())
    }

    /// What was sealed. `None` for what is no receipt, or one for another holder: it cannot be told which.
    #[must_use]
    pub fn open(text: &str, secret: &Secret, holder: &Scope) -> Option<Self> {
        let mut sealed = [0; TAG + SIMILAR];
        let length = URL_SAFE_NO_PAD.decode_slice(text, &mut sealed).ok()?;
        let (tag, content) = sealed.get_mut(..length)?.split_at_mut_checked(TAG)?;
        hide(content, secret, tag);
        let expected = secret.receipt_tag(holder, content);
        // However early they differ, all of it is compared: nobody learns from the time it takes.
        let both = tag.iter().zip(&expected);
        let same = both.fold(0, |differ, (one, two)| differ | (one ^ two)) == 0;
        Self::read(content).filter(|_| same)
    }

    fn write(&self, into: &mut [u8]) -> usize {
        let number = self.entry.map(|entry| entry.sequence.to_le_bytes());
        let entry = self.entry.map(|entry| entry.key);
        let asked = (entry != Some(self.asked)).then_some(self.asked);
        let parts = [
            number.as_ref().map_or(&[][..], |number| number),
            entry.as_ref().map_or(&[][..], Digest::as_bytes),
            asked.as_ref().map_or(&[][..], Digest::as_bytes),
        ];
        let mut length = 0;
        for part in parts {
            if let Some(room) = into.get_mut(length..length + part.len()) {
                room.copy_from_slice(part);
                length += part.len();
            }
        }
        length
    }

    fn read(content: &[u8]) -> Option<Self> {
        if content.len() == FRESH {
            return Some(Self {
                asked: Digest::from_slice(content)?,
                entry: None,
            });
        }
        let (number, keys) = content.split_first_chunk::<NUMBER>()?;
        let (key, asked) = keys.split_at_checked(DIGEST)?;
        let key = Digest::from_slice(key)?;
        let asked = if asked.is_empty() {
            key
        } else {
            Digest::from_slice(asked)?
        };
        let sequence = u64::from_le_bytes(*number);
        let entry = Some(EntryId { sequence, key });
        Some(Self { asked, entry })
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receipt")
            .field("asked", &self.asked)
            .field("entry", &self.entry)
            .finish()
    }
}

/// Hides the content, or shows it again.
fn hide(content: &mut [u8], secret: &Secret, tag: &[u8]) {
    let mut stream = [0; SIMILAR];
    secret.receipt_stream(tag, &mut stream);
    for (byte, mask) in content.iter_mut().zip(stream) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: Secret = Secret::from_bytes([3; 32]);

    fn receipts() -> [(Receipt, Given, usize); 3] {
        let scope = SECRET.scope(&[("tenant", b"a")]);
        let key = |text: &[u8]| SECRET.entry(&scope, text);
        let entry = |text| EntryId {
            sequence: 77,
            key: key(text),
        };
        let receipt = |entry| Receipt {
            asked: key(b"asked"),
            entry,
        };
        [
            (receipt(None), Given::Fresh, 64),
            (receipt(Some(entry(b"asked"))), Given::Equal, 75),
            (receipt(Some(entry(b"other"))), Given::Similar, 118),
        ]
    }

    #[test]
    fn a_receipt_opens_for_its_holder_and_is_what_was_sealed() {
        let holder = SECRET.scope(&[("holder", b"a")]);
        for (receipt, given, length) in receipts() {
            let text = receipt.seal(&SECRET, &holder);
            assert_eq!(text.len(), length);
            assert_eq!(Receipt::open(&text, &SECRET, &holder), Some(receipt));
            assert_eq!(receipt.given(), given);
        }
    }

    #[test]
    fn nobody_else_opens_it_and_no_changed_letter_is_overlooked() {
        let [mine, theirs] = [b"a", b"b"].map(|name| SECRET.scope(&[("holder", name)]));
        for (receipt, ..) in receipts() {
            let text = receipt.seal(&SECRET, &mine);
            assert_eq!(Receipt::open(&text, &SECRET, &theirs), None);
            let other = Secret::from_bytes([4; 32]);
            assert_eq!(Receipt::open(&text, &other, &mine), None);
            for at in 0..text.len() {
                let mut changed = text.clone().into_bytes();
                changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
                let changed = String::from_utf8(changed).expect("ASCII");
                assert_eq!(Receipt::open(&changed, &SECRET, &mine), None, "{changed}");
            }
        }
        for wrong in ["", "A", "no receipt!", &"A".repeat(43), &"A".repeat(5_000)] {
            assert_eq!(Receipt::open(wrong, &SECRET, &mine), None, "{wrong}");
        }
    }

    #[test]
    fn two_answers_that_differ_little_have_texts_that_differ_all_over() {
        let holder = SECRET.scope(&[("holder", b"a")]);
        let [_, (first, ..), _] = receipts();
        let mut second = first;
        second.entry = first.entry.map(|entry| EntryId {
            sequence: entry.sequence + 1,
            ..entry
        });
        let texts = [first, second].map(|receipt| receipt.seal(&SECRET, &holder));
        let same = texts[0]
            .bytes()
            .zip(texts[1].bytes())
            .filter(|(a, b)| a == b);
        assert!(same.count() < 15);
    }
}
