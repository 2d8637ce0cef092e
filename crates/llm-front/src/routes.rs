//! Which path goes where.

use http::Uri;
use llm_backend::prompt::Endpoint;

/// The endpoint whose requests the gateway reads, if `uri` names one.
#[must_use]
pub fn endpoint(uri: &Uri) -> Option<Endpoint> {
    match uri.path() {
        "/v1/chat/completions" => Some(Endpoint::ChatCompletions),
        "/v1/completions" => Some(Endpoint::Completions),
        "/v1/embeddings" => Some(Endpoint::Embeddings),
        "/v1/generate" => Some(Endpoint::Generate),
        _ => None,
    }
}

/// A path, as a word for metrics: a fixed few, whatever callers send.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Route {
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/completions`
    Completions,
    /// `/v1/embeddings`
    Embeddings,
    /// `/v1/generate`
    Generate,
    /// Anything else under `/v1/`.
    Other,
}

impl Route {
    /// Of a path.
    #[must_use]
    pub fn of(uri: &Uri) -> Self {
        match endpoint(uri) {
            Some(Endpoint::ChatCompletions) => Self::Chat,
            Some(Endpoint::Completions) => Self::Completions,
            Some(Endpoint::Embeddings) => Self::Embeddings,
            Some(Endpoint::Generate) => Self::Generate,
            _ => Self::Other,
        }
    }

    /// The word in metrics.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Completions => "completions",
            Self::Embeddings => "embeddings",
            Self::Generate => "generate",
            Self::Other => "other",
        }
    }
}
