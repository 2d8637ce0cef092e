//! Why a request was refused before any server saw it.

use std::{borrow::Cow, error, fmt};

use crate::json;

/// A request that is refused with 400, in the terms of an OpenAI error object: a message and the field it is about.
#[derive(Debug, Clone)]
pub struct Error {
    kind: Kind,
    message: Cow<'static, str>,
    param: Option<Cow<'static, str>>,
    source: Option<json::Error>,
}

/// What was wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The body is not a JSON object.
    Json,
    /// A field is there twice.
    Duplicate,
    /// A field that must be there is not.
    Missing,
    /// A field has the wrong type or is out of its bounds.
    Invalid,
}

// === impl Error ===

impl Error {
    pub(crate) fn json(error: json::Error) -> Self {
        let (kind, message, param) = match error.kind() {
            json::Kind::DuplicateKey(name) => {
                let message = format!("the field `{name}` is there twice");
                (Kind::Duplicate, message.into(), Some(name.clone().into()))
            }
            json::Kind::NotAnObject => (
                Kind::Json,
                Cow::Borrowed("the request body must be a JSON object"),
                None,
            ),
            _ => (
                Kind::Json,
                format!("the request body is not valid JSON: {error}").into(),
                None,
            ),
        };
        Self {
            kind,
            message,
            param,
            source: Some(error),
        }
    }

    pub(super) fn missing(param: &'static str) -> Self {
        let message = format!("the field `{param}` is required").into();
        Self {
            kind: Kind::Missing,
            message,
            param: Some(param.into()),
            source: None,
        }
    }

    pub(super) fn invalid(param: &'static str, must: &'static str) -> Self {
        let message = format!("the field `{param}` must be {must}").into();
        Self {
            kind: Kind::Invalid,
            message,
            param: Some(param.into()),
            source: None,
        }
    }

    /// What was wrong.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// What to tell the caller: `message` of the error object.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The field it is about: `param` of the error object.
    #[must_use]
    pub fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
