use std::time::Duration;

use crate::cache::EntryId;
use crate::matching::Similarity;

/// Where an answer came from. Under `http` it is an extension of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// From the cache.
    Hit {
        /// How the stored request matched.
        detail: Detail,
        /// How long ago the answer was stored.
        age: Duration,
        /// The entry that the answer was stored with.
        entry: EntryId,
    },
    /// From the inner service: nothing stored would do.
    Miss,
    /// From the inner service: a similar request's answer would have been served, were it not for
    /// [`Mode::Shadow`](crate::Mode::Shadow).
    Shadow {
        /// The cosine between the two texts.
        similarity: Similarity,
    },
    /// From nowhere: nothing stored would do, and the caller wanted nothing else.
    NotCached,
    /// From the inner service: the policy kept the request from the cache.
    Bypass,
}

/// How a stored request matched the asked one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// Equal, byte for byte.
    Exact,
    /// Similar in its text, equal in everything else.
    Semantic {
        /// The cosine between the two texts.
        similarity: Similarity,
    },
}
