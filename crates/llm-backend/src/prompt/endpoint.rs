//! The calls that the front end understands.

use std::fmt;

/// A call that takes a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// `POST /v1/chat/completions`
    ChatCompletions,
    /// `POST /v1/completions`
    Completions,
    /// `POST /v1/embeddings`
    Embeddings,
    /// `POST /v1/generate`: `{"prompt": …, "max_tokens": …}`, the front end's own call. Upstream it is a completion.
    Generate,
}

// === impl Endpoint ===

impl Endpoint {
    /// Every endpoint.
    pub const ALL: [Self; 4] = [
        Self::ChatCompletions,
        Self::Completions,
        Self::Embeddings,
        Self::Generate,
    ];

    /// The endpoint that a path names.
    #[must_use]
    pub fn from_path(path: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|endpoint| endpoint.path() == path)
    }

    /// The path on the front end.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
            Self::Embeddings => "/v1/embeddings",
            Self::Generate => "/v1/generate",
        }
    }

    /// The path on the server behind it: the same, but for [`Generate`](Self::Generate).
    #[must_use]
    pub const fn upstream_path(self) -> &'static str {
        match self {
            Self::Generate => Self::Completions.path(),
            _ => self.path(),
        }
    }

    /// What this endpoint calls its input.
    #[must_use]
    pub const fn input(self) -> &'static str {
        match self {
            Self::ChatCompletions => "messages",
            Self::Completions | Self::Generate => "prompt",
            Self::Embeddings => "input",
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path())
    }
}
