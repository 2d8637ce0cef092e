use http::StatusCode;

use super::answer::Answer;

/// Says whether an answer that came to a clean end is whole, and so may be stored.
///
/// A clean end is not enough: a generation that was cut at its token limit or filtered ends
/// cleanly too. It is asked once an answer, right before its last frame is passed on: keep it as
/// cheap as one look over the bytes.
///
/// Every closure `Fn(&Answer) -> bool` is one.
pub trait Complete: Send + Sync + 'static {
    /// Whether this answer may be stored.
    fn complete(&self, answer: &Answer) -> bool;
}

/// Takes every answer with status 200 for complete.
#[derive(Clone, Copy, Debug, Default)]
pub struct Success;

// === impl Complete ===

impl<F> Complete for F
where
    F: Fn(&Answer) -> bool + Send + Sync + 'static,
{
    fn complete(&self, answer: &Answer) -> bool {
        self(answer)
    }
}

impl Complete for Success {
    fn complete(&self, answer: &Answer) -> bool {
        answer.status() == StatusCode::OK
    }
}
