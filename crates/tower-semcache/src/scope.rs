use std::fmt;
use std::hash::{Hash, Hasher};

/// The key of every digest a cache compares: 256 bits that callers must not know.
///
/// Whoever knows it can search for two requests with one digest. An exact hit compares the whole
/// request as well, so such a pair would cost a miss, not a wrong answer; a [`Scope`] is compared
/// as a digest only. [`Secret::random`] suits a store that lives as long as the process; a store
/// shared between processes needs the same [`Secret::from_bytes`] in each.
#[derive(Clone)]
pub struct Secret([u8; 32]);

/// A keyed 256-bit digest of everything that must agree exactly between two requests before the
/// answer to one may serve the other: tenant, model, parameters, system prompt and so on.
///
/// Made only by a [`Secret`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope(Digest);

/// Collects the labelled parts of a [`Scope`]; see [`Secret::scope_builder`].
#[derive(Clone)]
pub struct ScopeBuilder {
    secret: Secret,
    /// The parts, encoded. They are short as a rule, and hashed best in one piece.
    encoded: Vec<u8>,
}

/// 32 bytes that are already uniform: hashing one means reading its first eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Digest([u8; 32]);

/// The hasher for maps keyed by a [`Digest`] or by a number of our own. A keyed BLAKE3 output needs
/// no second hash; one multiplication spreads consecutive numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DigestHasher(u64);

pub(crate) type DigestMap<K, T> =
    std::collections::HashMap<K, T, std::hash::BuildHasherDefault<DigestHasher>>;

// One tag a purpose, all of one length, so that no scope is ever the key of a request.
const SCOPE_TAG: &[u8; 16] = b"semcache/scope/1";
const ENTRY_TAG: &[u8; 16] = b"semcache/entry/1";
const RECEIPT_TAG: &[u8; 16] = b"semcache/given/1";
const STREAM_TAG: &[u8; 16] = b"semcache/hidden1";
const PART: u8 = 1;
const END: u8 = 0;

// === impl Secret ===

impl Secret {
    /// A secret from the operating system's source of randomness.
    ///
    /// # Panics
    ///
    /// When the operating system has no such source.
    #[must_use]
    pub fn random() -> Self {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system has a source of randomness");
        Self(bytes)
    }

    /// A secret the operator chose: the same bytes give the same digests in every process.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The scope of these labelled parts, in this order.
    ///
    /// The encoding is prefix-free: every label and every value carries its length, so no two
    /// different lists of parts are the same bytes.
    ///
    /// ```
    /// use tower_semcache::Secret;
    ///
    /// let secret = Secret::random();
    /// let one = secret.scope(&[("tenant", b"ab"), ("model", b"c")]);
    /// let two = secret.scope(&[("tenant", b"a"), ("model", b"bc")]);
    /// assert_ne!(one, two);
    /// ```
    #[must_use]
    pub fn scope(&self, parts: &[(&str, &[u8])]) -> Scope {
        let mut builder = self.scope_builder();
        for (label, value) in parts {
            builder = builder.part(label, value);
        }
        builder.finish()
    }

    /// Starts a scope whose parts come one by one.
    #[must_use]
    pub fn scope_builder(&self) -> ScopeBuilder {
        let mut encoded = Vec::with_capacity(256);
        encoded.extend_from_slice(SCOPE_TAG);
        ScopeBuilder {
            secret: self.clone(),
            encoded,
        }
    }

    /// The key of one entry: a digest of its scope and its canonical request.
    pub(crate) fn entry(&self, scope: &Scope, canonical: &[u8]) -> Digest {
        // What fits into one chunk is hashed faster in one piece.
        let mut chunk = [0; blake3::CHUNK_LEN];
        let length = ENTRY_TAG.len() + scope.0.0.len() + canonical.len();
        if let Some(whole) = chunk.get_mut(..length) {
            let (tag, rest) = whole.split_at_mut(ENTRY_TAG.len());
            let (named, rest) = rest.split_at_mut(scope.0.0.len());
            tag.copy_from_slice(ENTRY_TAG);
            named.copy_from_slice(&scope.0.0);
            rest.copy_from_slice(canonical);
            return Digest(*blake3::keyed_hash(&self.0, whole).as_bytes());
        }
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(ENTRY_TAG);
        hasher.update(&scope.0.0);
        hasher.update(canonical);
        Digest(*hasher.finalize().as_bytes())
    }

    /// What tells that the content of a receipt is ours, and for this holder.
    pub(crate) fn receipt_tag(&self, holder: &Scope, content: &[u8]) -> [u8; 16] {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(RECEIPT_TAG);
        hasher.update(&holder.0.0);
        hasher.update(content);
        let mut tag = [0; 16];
        hasher.finalize_xof().fill(&mut tag);
        tag
    }

    /// What hides the content of the receipt with this tag.
    pub(crate) fn receipt_stream(&self, tag: &[u8], stream: &mut [u8]) {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(STREAM_TAG);
        hasher.update(tag);
        hasher.finalize_xof().fill(stream);
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

// === impl ScopeBuilder ===

impl ScopeBuilder {
    /// Adds one labelled part. Order counts.
    #[must_use]
    pub fn part(mut self, label: &str, value: &[u8]) -> Self {
        self.encoded.push(PART);
        for bytes in [label.as_bytes(), value] {
            let length = bytes.len() as u64;
            self.encoded.extend_from_slice(&length.to_le_bytes());
            self.encoded.extend_from_slice(bytes);
        }
        self
    }

    /// The scope of all parts added.
    #[must_use]
    pub fn finish(mut self) -> Scope {
        self.encoded.push(END);
        let digest = blake3::keyed_hash(&self.secret.0, &self.encoded);
        Scope(Digest(*digest.as_bytes()))
    }
}

impl fmt::Debug for ScopeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScopeBuilder(..)")
    }
}

// === impl Scope ===

impl Scope {
    /// The 32 bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0.0
    }

    pub(crate) fn bucket(&self, buckets: usize) -> usize {
        self.0.bucket(buckets)
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({:016x}..)", self.0.head())
    }
}

// === impl Digest ===

impl Digest {
    pub(crate) const fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// `None` for another number of bytes than 32.
    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// One of `buckets` numbers, from other bits than the ones a map looks at.
    pub(crate) fn bucket(&self, buckets: usize) -> usize {
        let tail = self
            .0
            .last_chunk::<8>()
            .map_or(0, |tail| u64::from_le_bytes(*tail));
        (tail % buckets.max(1) as u64) as usize
    }

    fn head(&self) -> u64 {
        self.0
            .first_chunk::<8>()
            .map_or(0, |head| u64::from_le_bytes(*head))
    }
}

impl Hash for Digest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.head());
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}..", self.head())
    }
}

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: Secret = Secret::from_bytes([7; 32]);

    #[test]
    fn parts_that_concatenate_alike_are_different_scopes() {
        let lists: [&[(&str, &[u8])]; 7] = [
            &[],
            &[("a", b"b")],
            &[("ab", b"")],
            &[("", b"ab")],
            &[("a", b"b"), ("", b"")],
            &[("a", b""), ("b", b"")],
            &[("b", b""), ("a", b"")],
        ];
        for (i, one) in lists.iter().enumerate() {
            for (j, two) in lists.iter().enumerate() {
                assert_eq!(
                    SECRET.scope(one) == SECRET.scope(two),
                    i == j,
                    "{one:?} {two:?}"
                );
            }
        }
    }

    #[test]
    fn a_key_is_one_digest_however_long_the_request_is() {
        let scope = SECRET.scope(&[("tenant", b"a")]);
        for length in [0, 1, 975, 976, 977, 5_000] {
            let canonical = vec![b'x'; length];
            let whole = [ENTRY_TAG, scope.as_bytes().as_slice(), &canonical].concat();
            let expected = blake3::keyed_hash(&[7; 32], &whole);
            assert_eq!(SECRET.entry(&scope, &canonical).0, *expected.as_bytes());
        }
    }

    #[test]
    fn another_secret_gives_other_digests() {
        let parts: &[(&str, &[u8])] = &[("tenant", b"a")];
        assert_ne!(
            SECRET.scope(parts),
            Secret::from_bytes([8; 32]).scope(parts)
        );
        assert_ne!(Secret::random().scope(parts), Secret::random().scope(parts));
    }

    #[test]
    fn nothing_printable_gives_the_secret_away() {
        assert_eq!(format!("{:?}", SECRET), "Secret(..)");
    }
}
