//! The reference embedder: hashed n-grams. Needs no model, knows no meaning.
//!
//! ```
//! use tower_semcache::hashed::{HashedEmbedder, Ngrams};
//!
//! let embedder = HashedEmbedder::new(Ngrams::Words);
//! assert_eq!(embedder.embed("Hello world"), embedder.embed("world, hello!"));
//! let embedder = HashedEmbedder::new(Ngrams::WordsAndPairs);
//! assert_ne!(embedder.embed("Hello world"), embedder.embed("world, hello!"));
//! ```

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use blake2::Blake2b;
use blake2::digest::{Digest as _, consts::U8};
use tower_service::Service;

use crate::vector::Vector;

/// How many coordinates a vector has.
pub const DIMENSIONS: usize = 256;

/// Counts hashed n-grams into [`DIMENSIONS`] signed buckets and normalises to length one.
///
/// Lower-cased text is cut into runs of `[a-z0-9_]` and into pairs of neighbouring CJK ideographs
/// (U+4E00 to U+9FFF; one that stands alone stays). Every feature is digested by BLAKE2b to eight
/// bytes: the first four, big-endian, name the bucket; the fifth, even or odd, the sign. A text
/// without a feature becomes the zero vector, which matches nothing.
///
/// Texts with one bag of words have one vector, whatever they mean: it is a yardstick, and a
/// stand-in for tests, rather than something to serve with.
#[derive(Clone, Copy, Debug)]
pub struct HashedEmbedder {
    ngrams: Ngrams,
}

/// The features of a [`HashedEmbedder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ngrams {
    /// Single tokens (n = 1).
    Words,
    /// Single tokens, and neighbours joined by `_` (n = 2).
    WordsAndPairs,
}

// === impl HashedEmbedder ===

impl HashedEmbedder {
    /// An embedder with these features.
    #[must_use]
    pub const fn new(ngrams: Ngrams) -> Self {
        Self { ngrams }
    }

    /// The vector of a text.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vector {
        let tokens = tokens(&text.to_lowercase());
        let mut sums = [0.0f64; DIMENSIONS];
        let mut add = |feature: &str| {
            let digest = Blake2b::<U8>::digest(feature.as_bytes());
            let [a, b, c, d, sign, ..]: [u8; 8] = digest.into();
            let bucket = u32::from_be_bytes([a, b, c, d]) as usize % DIMENSIONS;
            if let Some(sum) = sums.get_mut(bucket) {
                *sum += if sign % 2 == 0 { 1.0 } else { -1.0 };
            }
        };
        for token in &tokens {
            add(token);
        }
        if self.ngrams == Ngrams::WordsAndPairs {
            for (one, two) in tokens.iter().zip(tokens.iter().skip(1)) {
                add(&format!("{one}_{two}"));
            }
        }
        let norm = sums.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = if norm > 0.0 { norm.recip() } else { 0.0 };
        Vector::from(sums.iter().map(|x| (x * scale) as f32).collect::<Vec<_>>())
    }
}

impl Service<Arc<str>> for HashedEmbedder {
    type Response = Vector;
    type Error = Infallible;
    type Future = Ready<Result<Vector, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, text: Arc<str>) -> Self::Future {
        ready(Ok(self.embed(&text)))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Ideograph,
    Gap,
}

fn kind(c: char) -> Kind {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => Kind::Word,
        '\u{4e00}'..='\u{9fff}' => Kind::Ideograph,
        _ => Kind::Gap,
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut run = String::new();
    let mut running = Kind::Gap;
    for c in text.chars().chain(std::iter::once(' ')) {
        let next = kind(c);
        if next != running {
            match running {
                Kind::Word => tokens.push(std::mem::take(&mut run)),
                Kind::Ideograph => pairs(&std::mem::take(&mut run), &mut tokens),
                Kind::Gap => run.clear(),
            }
            running = next;
        }
        run.push(c);
    }
    tokens
}

/// The pairs of neighbours in a run of ideographs; a run of one is its own.
fn pairs(run: &str, tokens: &mut Vec<String>) {
    if run.chars().nth(1).is_none() {
        tokens.push(run.to_owned());
        return;
    }
    tokens.extend(
        run.chars()
            .zip(run.chars().skip(1))
            .map(|(a, b)| String::from_iter([a, b])),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole_and_ideographs_cut_into_pairs() {
        assert_eq!(tokens("snake_case, 3.5km é"), ["snake_case", "3", "5km"]);
        assert_eq!(tokens("你好吗a我"), ["你好", "好吗", "a", "我"]);
        assert!(tokens(" .,!").is_empty());
    }

    #[test]
    fn a_text_without_a_feature_is_the_zero_vector() {
        let vector = HashedEmbedder::new(Ngrams::Words).embed("?!");
        assert!(vector.as_slice().iter().all(|x| *x == 0.0));
    }
}
