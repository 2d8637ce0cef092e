//! A request's way through the gateway: which stage it is in, how long each took, and where its answer came from.
//!
//! The stages follow one another without a gap, so their times add up to the whole. [`Mark`](crate::layers::mark::Mark) stands
//! where one begins. The percentiles of stages do not add up: their sum is only a bound of the whole's.

use crate::source::Source;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// A stage of a request's way.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum Stage {
    /// Its body is being read; who asks, and for what, is worked out.
    Reading,
    /// It is looked for among the stored answers.
    Cache,
    /// It waits for a call that it shares with others, or for its own to begin.
    Coalesce,
    /// Its own call looks once more, and for a rephrased request.
    Lookup,
    /// It waits for a place at the backend.
    Queue,
    /// It is at the backend, or in a batch for it: until the head of the answer.
    Backend,
    /// Its answer goes out.
    Answering,
}

/// Where one request is now, and where its answer came from. Clones speak of the same request.
#[derive(Clone, Debug)]
pub struct Journey(Arc<Notes>);

#[derive(Debug)]
struct Notes {
    began: Instant,
    stage: AtomicU8,
    source: AtomicU8,
    /// When the stage began, in nanoseconds after `began`.
    since: AtomicU64,
    /// How long each stage has taken, in nanoseconds, but for the one it is in.
    spent: [AtomicU64; Stage::ALL.len()],
}

// === impl Stage ===

impl Stage {
    /// Every stage, in the order of a request that is answered by the backend.
    pub const ALL: [Self; 7] = [
        Self::Reading,
        Self::Cache,
        Self::Coalesce,
        Self::Lookup,
        Self::Queue,
        Self::Backend,
        Self::Answering,
    ];

    /// The word in logs, metrics and `Server-Timing`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Cache => "cache",
            Self::Coalesce => "coalesce",
            Self::Lookup => "lookup",
            Self::Queue => "queue",
            Self::Backend => "backend",
            Self::Answering => "answering",
        }
    }
}

// === impl Journey ===

impl Default for Journey {
    fn default() -> Self {
        Self(Arc::new(Notes {
            began: Instant::now(),
            stage: AtomicU8::new(Stage::Reading as u8),
            source: AtomicU8::new(Source::Failed as u8),
            since: AtomicU64::new(0),
            spent: Default::default(),
        }))
    }
}

impl Journey {
    /// Notes that the request has come to `stage`.
    pub fn enter(&self, stage: Stage) {
        let now = u64::try_from(self.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let left = self.0.stage.swap(stage as u8, Ordering::Relaxed);
        let since = self.0.since.swap(now, Ordering::Relaxed);
        // Whoever left a flight that goes on is written to by nobody who still reads: no order is needed.
        if let Some(spent) = self.0.spent.get(usize::from(left)) {
            spent.fetch_add(now.saturating_sub(since), Ordering::Relaxed);
        }
    }

    /// Where it is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let stage = self.0.stage.load(Ordering::Relaxed);
        let known = Stage::ALL.get(usize::from(stage));
        known.copied().unwrap_or(Stage::Answering)
    }

    /// The time since it began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.began.elapsed()
    }

    /// The stages it has left, with the time each took.
    pub fn stages(&self) -> impl Iterator<Item = (Stage, Duration)> + '_ {
        let spent = Stage::ALL.into_iter().zip(&self.0.spent);
        spent.filter_map(|(stage, spent)| {
            let nanos = spent.load(Ordering::Relaxed);
            (nanos > 0).then_some((stage, Duration::from_nanos(nanos)))
        })
    }

    /// The value of `Server-Timing`: the stages it has left, in milliseconds.
    #[must_use]
    pub fn server_timing(&self) -> String {
        let mut value = String::with_capacity(112);
        for (stage, spent) in self.stages() {
            if !value.is_empty() {
                value.push_str(", ");
            }
            value.push_str(stage.word());
            value.push_str(";dur=");
            push_millis(&mut value, spent);
        }
        value
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

/// Milliseconds, with three digits behind the point. `fmt` takes several times as long, and every answer has a few of them.
fn push_millis(text: &mut String, span: Duration) {
    let mut digits = itoa::Buffer::new();
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    text.push_str(digits.format(millis));
    text.push('.');
    // A thousand more has a digit for every place.
    let micros = 1_000 + span.subsec_micros() % 1_000;
    text.push_str(digits.format(micros).get(1..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_stages_add_up_to_the_whole() {
        let journey = Journey::default();
        let ms = Duration::from_millis;
        for (stage, stay) in [
            (Stage::Cache, 2),
            (Stage::Coalesce, 0),
            (Stage::Queue, 30),
            (Stage::Backend, 1),
            (Stage::Queue, 5),
            (Stage::Answering, 0),
        ] {
            tokio::time::advance(ms(1)).await;
            journey.enter(stage);
            tokio::time::advance(ms(stay)).await;
        }
        let total: Duration = journey.stages().map(|(_, spent)| spent).sum();
        assert_eq!(total, journey.elapsed());
        let queue = journey.stages().find(|(stage, _)| *stage == Stage::Queue);
        assert_eq!(queue, Some((Stage::Queue, ms(37))));
        assert_eq!(
            journey.server_timing(),
            "reading;dur=1.000, cache;dur=3.000, coalesce;dur=1.000, queue;dur=37.000, backend;dur=2.000"
        );
    }
}
