//! Labelled texts, and what a cache would be asked with them.
//!
//! Every set becomes a list of [`Case`]s: a text that is asked, the texts that are cached when it is, and which of their
//! answers are right.

mod classes;
mod classified;
mod csv;
mod halves;
mod own;
mod pairs;
mod reference;
mod text;

pub use self::{
    classes::classes,
    classified::{Classified, classified},
    own::own,
    pairs::{Pair, pairs},
    reference::{Reference, reference},
    text::Text,
};

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tower::BoxError;

/// One half of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// Where thresholds are found.
    Dev,
    /// Where they are reported.
    Test,
}

/// Cached texts that are searched together, in the order in which they were stored.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Each with the number of its answer.
    pub entries: Vec<(Arc<str>, u32)>,
}

/// A text that is asked.
#[derive(Clone, Debug)]
pub struct Case {
    /// The text; a conversation is [joined](tower_semcache::guard::Conversations::join).
    pub asked: Arc<str>,
    /// Which of the set's pools is cached.
    pub pool: usize,
    /// The number of the right answer.
    pub answer: u32,
    /// Whether some cached text has it.
    pub answerable: bool,
    /// What kind of traffic, or of trap.
    pub family: String,
    /// Which half it belongs to.
    pub half: Half,
}

/// A labelled set.
#[derive(Clone, Debug)]
pub struct Set {
    /// What it is called in results.
    pub name: String,
    /// What is cached.
    pub pools: Vec<Pool>,
    /// What is asked.
    pub cases: Vec<Case>,
}

// === impl Set ===

impl Set {
    /// All texts, each once.
    #[must_use]
    pub fn texts(&self) -> Vec<Arc<str>> {
        let cached = self.pools.iter().flat_map(|pool| &pool.entries);
        let texts = cached
            .map(|(text, _)| text)
            .chain(self.cases.iter().map(|case| &case.asked));
        let mut seen = HashMap::new();
        for text in texts {
            let next = seen.len();
            seen.entry(Arc::clone(text)).or_insert(next);
        }
        let mut texts: Vec<_> = seen.into_iter().collect();
        texts.sort_unstable_by_key(|(_, number)| *number);
        texts.into_iter().map(|(text, _)| text).collect()
    }
}

// === impl Half ===

impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dev => "dev",
            Self::Test => "test",
        })
    }
}

fn read(file: &Path) -> Result<String, BoxError> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()).into())
}
