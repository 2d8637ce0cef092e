//! What a cache has to know of an embedder, beside how to call it.

use std::fmt;
use std::sync::Arc;

use tower_semcache::Vector;
use tower_service::Service;

/// A service from a text to its vector that says which vectors they are.
///
/// Two vectors can be compared when the [`EmbedderId`]s of their embedders are equal, and a
/// threshold means something for one of them only: cosines of the same pair of texts differ between
/// two files of one model. So the id belongs into the scope of every look-up, and beside every
/// stored vector.
pub trait Embedder: Service<Arc<str>, Response = Vector> {
    /// What all vectors of this embedder have in common.
    fn id(&self) -> EmbedderId;
}

/// A digest over everything that a vector depends on beside its text: the model's files, and how
/// they are computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EmbedderId([u8; 32]);

// === impl EmbedderId ===

impl EmbedderId {
    /// The id of an embedder of this kind made of these parts.
    ///
    /// Change `kind` whenever the same parts begin to give other vectors.
    #[must_use]
    pub fn digest(kind: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("llm-embed 2026 embedder id");
        for part in std::iter::once(&kind.as_bytes()).chain(parts) {
            // With its length before it, no two lists of parts run together.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// The digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for EmbedderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for EmbedderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EmbedderId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_and_each_border_between_parts_counts() {
        let id = |kind, parts: &[&[u8]]| EmbedderId::digest(kind, parts);
        let one = id("k", &[b"ab", b"c"]);
        assert_eq!(one, id("k", &[b"ab", b"c"]));
        for other in [
            id("l", &[b"ab", b"c"]),
            id("k", &[b"a", b"bc"]),
            id("k", &[b"abc"]),
            id("k", &[b"ab", b"c", b""]),
        ] {
            assert_ne!(one, other);
        }
        assert_eq!(one.to_string().len(), 64);
    }
}
