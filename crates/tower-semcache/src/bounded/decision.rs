use super::certificate::Audit;
use super::observation::{Cluster, Reading};

/// What to do with a request.
#[derive(Debug)]
#[must_use = "the decision is counted: it must be carried out"]
pub enum Decision {
    /// Serve the stored answer of the candidate with this index.
    Serve {
        /// An index into the candidates.
        candidate: usize,
    },
    /// A would-be hit that the coin sends to the backend: the caller gets the fresh answer, and the
    /// ticket a judgement. To the backend it looks like a miss.
    Audit(Ticket),
    /// A miss that teaches: the caller gets the fresh answer, and the ticket a judgement.
    Explore(Ticket, Reason),
    /// A miss. The new entry gets this cluster.
    Refuse(Reason, Cluster),
}

/// Why no stored answer is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// There is nothing similar.
    NoNeighbour,
    /// The guard, or an earlier judgement, forbids every entry that would do.
    Vetoed,
    /// There are too few judgements for a score.
    NoScore,
    /// The score finds the answer likelier wrong than any level allows.
    Risk,
    /// The score would allow it, but the judgements do not prove yet that it can be trusted.
    NoEvidence,
    /// Too many audits found, or await, something: one more wrong answer would break the promise.
    Credit,
    /// Audits found too much, as often as it may begin anew.
    Closed,
    /// The judge disagrees with itself too often.
    JudgeNoise,
}

/// A comparison that somebody has to make: the answer stored with a candidate, and a fresh one.
///
/// It is worth what its decision was worth; a ticket of an audit that is dropped counts as a wrong
/// answer for ever.
#[derive(Debug)]
#[must_use = "a ticket wants a judgement"]
pub struct Ticket {
    pub(super) reading: Reading,
    pub(super) kind: Kind,
    pub(super) stage: Stage,
    /// What the score said, without its correction.
    pub(super) predicted: f64,
    /// The level of the would-be hit.
    pub(super) level: Option<usize>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Audit { audit: Audit, rate: f64 },
    Explore { chance: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The would-be hit against the fresh answer.
    First,
    /// Once more, against a second fresh answer: a judge that errs, or a backend that says it
    /// another way, is no wrong hit.
    Second,
    /// The best other cluster against the fresh answer; the entry belongs to `home` so far.
    Rival { home: Option<Cluster> },
}

/// Which fresh answer a ticket is to be judged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fresh {
    /// The one the caller got.
    First,
    /// One more, to the same request.
    Second,
}

/// What comes after a judgement.
#[derive(Debug)]
#[must_use = "there may be a further comparison to make"]
pub enum Next {
    /// Nothing: the new entry gets this cluster.
    Done(Cluster),
    /// One more comparison.
    Compare(Ticket),
}

// === impl Reason ===

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 8] = [
        Self::NoNeighbour,
        Self::Vetoed,
        Self::NoScore,
        Self::Risk,
        Self::NoEvidence,
        Self::Credit,
        Self::Closed,
        Self::JudgeNoise,
    ];

    /// A name for metrics. It does not change.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoNeighbour => "no_neighbour",
            Self::Vetoed => "vetoed",
            Self::NoScore => "no_score",
            Self::Risk => "risk",
            Self::NoEvidence => "no_evidence",
            Self::Credit => "credit",
            Self::Closed => "closed",
            Self::JudgeNoise => "judge_noise",
        }
    }
}

// === impl Kind ===

impl Kind {
    /// The probability with which the would-be hit came to be judged.
    pub(super) const fn chance(&self) -> f64 {
        match self {
            Self::Audit { rate, .. } => *rate,
            Self::Explore { chance } => *chance,
        }
    }
}

// === impl Ticket ===

impl Ticket {
    pub(super) const fn new(reading: Reading, kind: Kind) -> Self {
        Self {
            reading,
            kind,
            stage: Stage::First,
            // Without a score everything is as likely as not.
            predicted: 0.5,
            level: None,
        }
    }

    pub(super) const fn scored(mut self, predicted: f64, level: Option<usize>) -> Self {
        self.predicted = predicted;
        self.level = level;
        self
    }

    /// The index of the candidate to compare with.
    #[must_use]
    pub fn candidate(&self) -> usize {
        match (self.stage, self.reading.rival) {
            (Stage::Rival { .. }, Some(rival)) => rival.candidate,
            _ => self.reading.candidate,
        }
    }

    /// The fresh answer to compare it with.
    #[must_use]
    pub const fn fresh(&self) -> Fresh {
        match self.stage {
            Stage::Second => Fresh::Second,
            Stage::First | Stage::Rival { .. } => Fresh::First,
        }
    }

    /// Whether it is an audit.
    #[must_use]
    pub const fn is_audit(&self) -> bool {
        matches!(self.kind, Kind::Audit { .. })
    }
}
