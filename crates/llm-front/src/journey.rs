//! How far a request has come, for the log line of a caller who left, and where its answer came from, for the metrics.

use crate::source::Source;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A stage of a request's way.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum Stage {
    /// Its body is being read.
    Reading,
    /// It waits for the head of its answer.
    Waiting,
    /// Its answer goes out.
    Answering,
}

impl Stage {
    /// The word in logs and metrics.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Waiting => "waiting",
            Self::Answering => "answering",
        }
    }
}

/// Where one request is now, and where its answer came from. Clones speak of the same request.
#[derive(Clone, Debug)]
pub struct Journey(Arc<Notes>);

#[derive(Debug)]
struct Notes {
    stage: AtomicU8,
    source: AtomicU8,
}

impl Default for Journey {
    fn default() -> Self {
        Self(Arc::new(Notes {
            stage: AtomicU8::new(Stage::Reading as u8),
            source: AtomicU8::new(Source::Failed as u8),
        }))
    }
}

impl Journey {
    /// Notes that the request has come to `stage`.
    pub fn reach(&self, stage: Stage) {
        self.0.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// Where it is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self.0.stage.load(Ordering::Relaxed) {
            0 => Stage::Reading,
            1 => Stage::Waiting,
            _ => Stage::Answering,
        }
    }

    /// Notes where the answer came from.
    pub fn answered_from(&self, source: Source) {
        self.0.source.store(source as u8, Ordering::Relaxed);
    }

    /// Where the answer came from; [`Source::Failed`] before there is one.
    #[must_use]
    pub fn source(&self) -> Source {
        let source = self.0.source.load(Ordering::Relaxed);
        Source::ALL
            .into_iter()
            .find(|known| *known as u8 == source)
            .unwrap_or(Source::Failed)
    }
}
