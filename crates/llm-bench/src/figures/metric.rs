//! What is measured of a request.

use crate::load::Outcome;
use crate::measure::{Sorted, millis};
use std::time::Duration;

/// What is measured of a request.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Metric {
    /// Time to first token.
    Ttft,
    /// Time per output token.
    Tpot,
    /// Inter-token latency.
    Itl,
    /// Inter-chunk latency.
    Icl,
    /// End-to-end latency.
    E2el,
    /// Time to first token, from the send.
    TtftFromSend,
    /// End-to-end latency, from the send.
    E2elFromSend,
    /// Waiting for a place under the cap.
    ClientQueueTime,
    /// The load generator's own lateness.
    Lag,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Ttft,
        Self::Tpot,
        Self::Itl,
        Self::Icl,
        Self::E2el,
        Self::TtftFromSend,
        Self::E2elFromSend,
        Self::ClientQueueTime,
        Self::Lag,
    ];

    /// Its word on the command line and in keys: `mean_WORD_ms`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ttft => "ttft",
            Self::Tpot => "tpot",
            Self::Itl => "itl",
            Self::Icl => "icl",
            Self::E2el => "e2el",
            Self::TtftFromSend => "ttft_from_send",
            Self::E2elFromSend => "e2el_from_send",
            Self::ClientQueueTime => "client_queue_time",
            Self::Lag => "lag",
        }
    }

    /// The metric of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.word() == word)
    }

    /// Its short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ttft => "TTFT",
            Self::Tpot => "TPOT",
            Self::Itl => "ITL",
            Self::Icl => "ICL",
            Self::E2el => "E2EL",
            Self::TtftFromSend => "TTFT from send",
            Self::E2elFromSend => "E2EL from send",
            Self::ClientQueueTime => "Client Queue Time",
            Self::Lag => "Lag",
        }
    }

    /// Its long name.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Ttft => "Time to First Token",
            Self::Tpot => "Time per Output Token (excl. 1st token)",
            Self::Itl => "Inter-token Latency",
            Self::Icl => "Inter-chunk Latency",
            Self::E2el => "End-to-end Latency",
            Self::TtftFromSend => "Time to First Token, from the send",
            Self::E2elFromSend => "End-to-end Latency, from the send",
            Self::ClientQueueTime => "Client-side Queueing",
            Self::Lag => "Load generator's own lag",
        }
    }

    /// How it is computed.
    #[must_use]
    pub const fn formula(self) -> &'static str {
        match self {
            Self::Ttft => "first token - intended start",
            Self::Tpot => "(last - first token) / (tokens - 1st chunk's)",
            Self::Itl => "pause / tokens that ended it, per token",
            Self::Icl => "pause between two arrivals",
            Self::E2el => "last byte - intended start",
            Self::TtftFromSend => "first token - send",
            Self::E2elFromSend => "last byte - send",
            Self::ClientQueueTime => "place under the cap - intended start",
            Self::Lag => "send - (intended start or place)",
        }
    }

    /// Appends what `outcome` has of it.
    fn collect(self, outcome: &Outcome, values: &mut Vec<f64>) {
        let mut push = |time: Duration| values.push(millis(time));
        match self {
            Self::Ttft => outcome.ttft().into_iter().for_each(push),
            Self::Tpot => outcome.tpot().into_iter().for_each(push),
            Self::Itl => outcome.pauses().for_each(|(pause, tokens)| {
                // A share of tokens that is no whole number is rounded: a value belongs to a token or it does not.
                let count = tokens.round().max(1.0);
                (0..count as u64).for_each(|_| values.push(millis(pause) / tokens.max(1.0)));
            }),
            Self::Icl => outcome.pauses().for_each(|(pause, _)| push(pause)),
            Self::E2el => push(outcome.e2el()),
            Self::TtftFromSend => outcome.ttft_from_send().into_iter().for_each(push),
            Self::E2elFromSend => push(outcome.e2el_from_send()),
            Self::ClientQueueTime => push(outcome.queued()),
            Self::Lag => push(outcome.lag()),
        }
    }

    /// Of all whole `outcomes`, in milliseconds. How late the load generator was and how long requests waited for a place is of
    /// all, failed ones too.
    pub fn of_all<'a>(self, outcomes: impl IntoIterator<Item = &'a Outcome>) -> Sorted {
        let of_all = matches!(self, Self::ClientQueueTime | Self::Lag);
        let mut values = Vec::new();
        for outcome in outcomes
            .into_iter()
            .filter(|outcome| of_all || outcome.is_whole())
        {
            self.collect(outcome, &mut values);
        }
        Sorted::new(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_a_metric_of_its_own() {
        for metric in Metric::ALL {
            assert_eq!(Metric::of(metric.word()), Some(metric));
        }
        assert_eq!(Metric::of("latency"), None);
    }
}
