//! Where an answer came from.

use serde::Serialize;
use std::ops::AddAssign;

/// Where an answer came from, by its `Cache-Status` (RFC 9211).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A generation of its own, for others to share: `fwd=miss`.
    Generation,
    /// A cache: `hit`.
    Hit,
    /// A generation that somebody else had asked for: `fwd=miss; collapsed`.
    Coalesced,
    /// A generation of its own, shared with nobody: `fwd=bypass`.
    Bypass,
    /// It does not say.
    Unsaid,
}

impl Source {
    /// Reads the value of the field: of a list, its last member, the cache nearest to the caller.
    #[must_use]
    pub fn of(value: &[u8]) -> Self {
        let Ok(value) = std::str::from_utf8(value) else {
            return Self::Unsaid;
        };
        let nearest = value.rsplit(',').next().unwrap_or_default();
        let mut source = Self::Unsaid;
        for parameter in nearest.split(';').skip(1).map(str::trim) {
            source = match (source, parameter) {
                (_, "hit") => Self::Hit,
                (_, "collapsed") => Self::Coalesced,
                (Self::Unsaid, "fwd=bypass") => Self::Bypass,
                (Self::Unsaid, forwarded) if forwarded.starts_with("fwd=") => Self::Generation,
                (source, _) => source,
            };
        }
        source
    }
}

/// How many answers came from where.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Tally {
    /// [`Source::Generation`].
    pub generations: u64,
    /// [`Source::Hit`].
    pub hits: u64,
    /// [`Source::Coalesced`].
    pub coalesced: u64,
    /// [`Source::Bypass`].
    pub bypassed: u64,
    /// [`Source::Unsaid`].
    pub unsaid: u64,
}

impl AddAssign<Source> for Tally {
    fn add_assign(&mut self, source: Source) {
        *match source {
            Source::Generation => &mut self.generations,
            Source::Hit => &mut self.hits,
            Source::Coalesced => &mut self.coalesced,
            Source::Bypass => &mut self.bypassed,
            Source::Unsaid => &mut self.unsaid,
        } += 1;
    }
}

impl FromIterator<Source> for Tally {
    fn from_iter<I: IntoIterator<Item = Source>>(sources: I) -> Self {
        let mut tally = Self::default();
        sources.into_iter().for_each(|source| tally += source);
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wording_says_where_the_answer_came_from() {
        for (value, source) in [
            ("llm-front; hit; detail=exact", Source::Hit),
            (
                "llm-front; hit; detail=\"semantic; sim=0.934\"",
                Source::Hit,
            ),
            ("llm-front; fwd=miss", Source::Generation),
            ("llm-front; fwd=uri-miss; stored", Source::Generation),
            ("llm-front; fwd=miss; collapsed", Source::Coalesced),
            ("llm-front; fwd=bypass; detail=sampled", Source::Bypass),
            ("origin; hit, llm-front; fwd=miss", Source::Generation),
            ("llm-front", Source::Unsaid),
            ("", Source::Unsaid),
        ] {
            assert_eq!(Source::of(value.as_bytes()), source, "{value}");
        }
    }

    #[test]
    fn a_tally_counts_each_source() {
        let tally: Tally = [Source::Hit, Source::Hit, Source::Coalesced]
            .into_iter()
            .collect();
        assert_eq!(
            tally,
            Tally {
                hits: 2,
                coalesced: 1,
                ..Tally::default()
            }
        );
    }
}
