//! The last word on a similar text, before its answer is served.

#[cfg(feature = "guards")]
mod literal;

#[cfg(feature = "guards")]
pub use literal::Literal;

/// Says whether the answer to one text may serve another that is similar to it.
///
/// Embeddings see that two texts are about the same thing; they hardly see that "5 km" became
/// "6 km". A guard reads the texts themselves. It must be pure, cheap (microseconds: it runs on the
/// request's path, once a candidate) and symmetric: `accepts(a, b) == accepts(b, a)`.
///
/// In one search it is asked about the most similar candidates, one after the other, until it
/// accepts one; after 1,024 the request goes on as a miss.
///
/// Every closure `Fn(&str, &str) -> Verdict` is a guard.
pub trait Guard {
    /// Compares the text that is asked with one whose answer is stored.
    fn accepts(&self, asked: &str, cached: &str) -> Verdict;
}

/// What a [`Guard`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The stored answer may be served.
    Accept,
    /// It may not; the next best candidate is looked at.
    Reject,
}

/// The guard that trusts the embedder: accepts everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AcceptAll;

// === impl Guard ===

impl<F> Guard for F
where
    F: Fn(&str, &str) -> Verdict,
{
    fn accepts(&self, asked: &str, cached: &str) -> Verdict {
        self(asked, cached)
    }
}

impl Guard for AcceptAll {
    fn accepts(&self, _: &str, _: &str) -> Verdict {
        Verdict::Accept
    }
}

// === impl Verdict ===

impl Verdict {
    /// [`Verdict::Accept`] when `fine`.
    #[must_use]
    pub const fn accept_if(fine: bool) -> Self {
        if fine { Self::Accept } else { Self::Reject }
    }
}
