//! What is exact.

use crate::measure::{Tally, samples};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Whether identical requests in flight share one generation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// They do not.
    Without,
    /// They do.
    With,
}

impl Mode {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Without, Self::With];

    /// In words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Without => "without coalescing",
            Self::With => "with coalescing",
        }
    }

    /// As the value of a switch.
    #[must_use]
    pub const fn switch(self) -> &'static str {
        match self {
            Self::Without => "off",
            Self::With => "on",
        }
    }

    /// What 80 requests must come to.
    #[must_use]
    pub fn expected(self) -> Counts {
        let (generations, coalesced, batches) = match self {
            Self::Without => (16, 0, [(8, 2)]),
            Self::With => (3, 13, [(3, 1)]),
        };
        let sources = Tally {
            generations,
            hits: 64,
            coalesced,
            ..Tally::default()
        };
        Counts {
            sources,
            batches: Batches(batches.into()),
        }
    }
}

/// Where the answers came from, and the batches that were made for it.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Counts {
    /// Answers by source, as they say themselves.
    pub sources: Tally,
    /// Batches by size, as the gateway counts them.
    pub batches: Batches,
}

/// How many batches there were of each size.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Batches(pub BTreeMap<u64, u64>);

impl Batches {
    /// Reads them from a gateway's metrics.
    #[must_use]
    pub fn read(metrics: &str) -> Self {
        let batches = samples(metrics).filter(|sample| sample.name == "llm_front_batches_total");
        let batches = batches
            .filter_map(|sample| Some((sample.label("items")?.parse().ok()?, sample.value as u64)));
        Self(batches.filter(|(_, count)| *count > 0).collect())
    }

    /// Those that are not among `earlier`.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        self.0.retain(|size, count| {
            *count -= earlier.0.get(size).copied().unwrap_or(0).min(*count);
            *count > 0
        });
        self
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            generations,
            hits,
            coalesced,
            bypassed,
            unsaid,
        } = self;
        write!(f, "{generations} / {hits} / {coalesced}")?;
        match bypassed + unsaid {
            0 => Ok(()),
            others => write!(f, " and {others} others"),
        }
    }
}

impl fmt::Display for Batches {
    /// `8 + 8`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.0.iter().rev();
        let sizes: Vec<String> = sizes
            .flat_map(|(size, count)| (0..*count).map(move |_| size.to_string()))
            .collect();
        f.write_str(if sizes.is_empty() { "none" } else { "" })?;
        f.write_str(&sizes.join(" + "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_read_from_the_metrics() {
        let before = Batches::read(
            "llm_front_batches_total{items=\"8\"} 1\nllm_front_batches_total{items=\"1\"} 5\n",
        );
        let metrics = "llm_front_batches_total{items=\"8\"} 3\nllm_front_batches_total{items=\"3\"} 1\nllm_front_batches_total{items=\"1\"} 5\nother 7\n";
        assert_eq!(
            Batches::read(metrics).since(&before).to_string(),
            "8 + 8 + 3"
        );
        assert_eq!(Batches::read("").to_string(), "none");
    }
}
