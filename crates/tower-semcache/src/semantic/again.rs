use std::fmt;

use bytes::Bytes;

/// A request to be answered once more, past the cache, while nobody waits: what a
/// [`Worker`](super::Worker) asks for to tell a wrong stored answer from one that only differs as two
/// answers to one request do.
#[derive(Clone)]
pub struct Again {
    canonical: Bytes,
}

// === impl Again ===

impl Again {
    pub(super) const fn new(canonical: Bytes) -> Self {
        Self { canonical }
    }

    /// The canonical bytes of its [`Lookup`](crate::Lookup).
    #[must_use]
    pub const fn canonical(&self) -> &Bytes {
        &self.canonical
    }
}

impl fmt::Debug for Again {
    /// Does not show the request.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Again").finish_non_exhaustive()
    }
}
