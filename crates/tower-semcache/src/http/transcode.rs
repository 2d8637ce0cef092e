use http::{Extensions, HeaderMap, Method, Request, Uri};

use super::answer::Answer;

/// Brings a stored answer into the form the caller asked for: a stream, say, into one body.
///
/// An answer already in that form is handed out as it is: `Some(stored.clone())`, which shares the
/// body. `None` when there is no way; the request then goes on as a miss, and its answer takes the
/// place of the stored one.
pub trait Transcode: Send + Sync + 'static {
    /// The stored answer in the form asked for.
    fn serve(&self, stored: &Answer, asked: &Asked<'_>) -> Option<Answer>;
}

/// Serves every answer in the form it came in, whatever form is asked for.
///
/// So requests for different forms must be different requests: what shapes the answer (a `stream`
/// field, `Accept`) has to be part of the canonical request or of the scope. Where a canonical form
/// leaves that out, so that callers of both forms share an answer (as that of
/// `llm_backend::prompt::Prompt` does), this would give a stream to whoever asked for a body: write
/// a [`Transcode`] there.
#[derive(Clone, Copy, Debug, Default)]
pub struct SameForm;

/// The asking request, without its body.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Asked<'a> {
    /// The method.
    pub method: &'a Method,
    /// The target.
    pub uri: &'a Uri,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The extensions: what outer layers know about the request.
    pub extensions: &'a Extensions,
}

// === impl Transcode ===

impl<F> Transcode for F
where
    F: Fn(&Answer, &Asked<'_>) -> Option<Answer> + Send + Sync + 'static,
{
    fn serve(&self, stored: &Answer, asked: &Asked<'_>) -> Option<Answer> {
        self(stored, asked)
    }
}

impl Transcode for SameForm {
    fn serve(&self, stored: &Answer, _: &Asked<'_>) -> Option<Answer> {
        Some(stored.clone())
    }
}

// === impl Asked ===

impl<'a, B> From<&'a Request<B>> for Asked<'a> {
    fn from(request: &'a Request<B>) -> Self {
        Self {
            method: request.method(),
            uri: request.uri(),
            headers: request.headers(),
            extensions: request.extensions(),
        }
    }
}
