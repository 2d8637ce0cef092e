//! Where an answer came from: what is counted, and what `Cache-Status` says (RFC 9211).

use crate::asked::{Asked, Bypass};
use http::HeaderValue;
use tower_coalesce::Role;
use tower_semcache::{Detail, Outcome, Similarity};

/// Where an answer came from.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum Source {
    /// The cache: an equal request was answered before.
    Hit,
    /// The cache: a rephrased request was answered before.
    SemanticHit,
    /// A generation that somebody else had already asked for.
    Coalesced,
    /// A generation of its own, for others to share.
    Generation,
    /// A generation of its own, shared with nobody.
    Bypass,
    /// The gateway itself: no answer of a model.
    Gateway,
    /// No answer: refused or failed on the way, or only a stored one was wanted and there is none.
    Failed,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 7] = [
        Self::Hit,
        Self::SemanticHit,
        Self::Coalesced,
        Self::Generation,
        Self::Bypass,
        Self::Gateway,
        Self::Failed,
    ];

    /// The word in metrics.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::SemanticHit => "semantic_hit",
            Self::Coalesced => "coalesced",
            Self::Generation => "generation",
            Self::Bypass => "bypass",
            Self::Gateway => "gateway",
            Self::Failed => "failed",
        }
    }
}

/// A source with what the caller is told about it.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Where the answer came from.
    pub source: Source,
    bypass: Option<Bypass>,
    /// Of the stored text: of a hit, or of what would have been one.
    similarity: Option<Similarity>,
}

impl Label {
    /// Of a request that the gateway does not read.
    pub const OPAQUE: Self = Self {
        source: Source::Bypass,
        bypass: None,
        similarity: None,
    };

    /// Reads it off what the layers left on a response.
    #[must_use]
    pub fn of(asked: &Asked, outcome: Option<&Outcome>, role: Option<&Role>) -> Self {
        let label = |source| Self {
            source,
            bypass: None,
            similarity: None,
        };
        let shadow = match outcome {
            Some(Outcome::Shadow { similarity }) => Some(*similarity),
            _ => None,
        };
        match (&asked.key, outcome, role) {
            (Err(bypass), _, _) => Self {
                bypass: Some(*bypass),
                ..label(Source::Bypass)
            },
            (
                _,
                Some(Outcome::Hit {
                    detail: Detail::Semantic { similarity },
                    ..
                }),
                _,
            ) => Self {
                similarity: Some(*similarity),
                ..label(Source::SemanticHit)
            },
            (_, Some(Outcome::Hit { .. }), _) => label(Source::Hit),
            (_, Some(Outcome::NotCached), _) => label(Source::Failed),
            (_, _, Some(Role::Follower)) => label(Source::Coalesced),
            _ => Self {
                similarity: shadow,
                ..label(Source::Generation)
            },
        }
    }

    /// The value of `Cache-Status`.
    #[must_use]
    pub fn cache_status(self) -> HeaderValue {
        match (self.source, self.bypass, self.similarity) {
            (Source::SemanticHit, _, Some(similarity)) => {
                let value = format!(
                    "llm-front; hit; detail=\"semantic; sim={:.3}\"",
                    similarity.get()
                );
                HeaderValue::try_from(value)
                    .unwrap_or_else(|_| HeaderValue::from_static("llm-front; hit"))
            }
            (Source::Hit | Source::SemanticHit, _, _) => {
                HeaderValue::from_static("llm-front; hit; detail=exact")
            }
            (Source::Coalesced, _, _) => HeaderValue::from_static("llm-front; fwd=miss; collapsed"),
            (Source::Generation, _, Some(similarity)) => {
                let value = format!(
                    "llm-front; fwd=miss; detail=\"shadow; sim={:.3}\"",
                    similarity.get()
                );
                HeaderValue::try_from(value)
                    .unwrap_or_else(|_| HeaderValue::from_static("llm-front; fwd=miss"))
            }
            (Source::Generation, _, _) => HeaderValue::from_static("llm-front; fwd=miss"),
            (_, Some(Bypass::Sampled), _) => {
                HeaderValue::from_static("llm-front; fwd=bypass; detail=sampled")
            }
            (_, Some(Bypass::Choices), _) => {
                HeaderValue::from_static("llm-front; fwd=bypass; detail=choices")
            }
            (_, Some(Bypass::Off), _) => {
                HeaderValue::from_static("llm-front; fwd=bypass; detail=off")
            }
            (Source::Failed, _, _) => HeaderValue::from_static("llm-front; detail=only-if-cached"),
            (Source::Bypass | Source::Gateway, None, _) => {
                HeaderValue::from_static("llm-front; fwd=bypass")
            }
        }
    }
}
