//! What became of a request.

use crate::answer::Counted;
use crate::measure::Source;
use serde::Serialize;
use std::time::Duration;

/// What became of a request. All times count from the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its number.
    pub number: usize,
    /// The number of the target that it went to.
    pub target: usize,
    /// When it should have been sent: by the schedule; in a closed loop, when its worker had made it.
    pub due: Duration,
    /// When nothing but the load generator itself stood in its way: when it was due, or when there was room under the cap. In a
    /// closed loop, when the answer before it was there.
    pub free: Duration,
    /// When it was sent: before a connection was taken, opened if need be, and written to.
    pub sent: Duration,
    /// When the last byte of the answer arrived, or when it was given up.
    pub ended: Duration,
    /// How it ended.
    pub end: End,
    /// Why, where it is not whole.
    pub why: Option<Box<str>>,
    /// The status code; 0 without an answer.
    pub status: u16,
    /// Where the answer came from.
    pub source: Source,
    /// When tokens arrived; empty where the answer is one body.
    pub arrivals: Vec<Arrived>,
    /// Tokens of the prompt: as the server counted them, else as it was made.
    pub prompt_tokens: u64,
    /// Of these, those that the server had in its prefix cache.
    pub cached_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Who counted them.
    pub counted: Counted,
}

/// Tokens that arrived at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrived {
    /// When.
    pub at: Duration,
    /// In how many chunks.
    pub chunks: u32,
    /// How many tokens. Where the server tells only their number in all, each chunk has its share.
    pub tokens: f64,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// With a whole answer.
    Whole,
    /// No connection.
    Connect,
    /// The socket failed.
    Socket,
    /// The server closed before the end of its answer.
    Cut,
    /// The answer ended cleanly and is not whole: no finish reason, no data.
    Incomplete,
    /// The server told an error in the midst of its answer.
    ErrorEvent,
    /// A status other than 2xx.
    Status,
    /// No HTTP/1.1, or too much of it.
    Malformed,
    /// It took too long.
    Timeout,
}

impl End {
    /// In words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Connect => "no connection",
            Self::Socket => "socket failed",
            Self::Cut => "cut",
            Self::Incomplete => "incomplete",
            Self::ErrorEvent => "error in the stream",
            Self::Status => "error status",
            Self::Malformed => "no HTTP/1.1",
            Self::Timeout => "timed out",
        }
    }
}

impl Outcome {
    /// Whether the answer is whole.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.end == End::Whole
    }

    /// The load generator's own lateness: `sent − free`.
    #[must_use]
    pub fn lag(&self) -> Duration {
        self.sent.saturating_sub(self.free)
    }

    /// Time for which the cap on requests in flight held it back: `free − due`.
    #[must_use]
    pub fn queued(&self) -> Duration {
        self.free.saturating_sub(self.due)
    }

    /// Time to first token: `first token − due`. None where no token arrived by itself.
    #[must_use]
    pub fn ttft(&self) -> Option<Duration> {
        self.first().map(|first| first.saturating_sub(self.due))
    }

    /// The same from the send: `first token − sent`.
    #[must_use]
    pub fn ttft_from_send(&self) -> Option<Duration> {
        self.first().map(|first| first.saturating_sub(self.sent))
    }

    /// End-to-end latency: `ended − due`.
    #[must_use]
    pub fn e2el(&self) -> Duration {
        self.ended.saturating_sub(self.due)
    }

    /// The same from the send: `ended − sent`.
    #[must_use]
    pub fn e2el_from_send(&self) -> Duration {
        self.ended.saturating_sub(self.sent)
    }

    /// Time per output token after the first chunk: `(last token − first token) / (tokens − tokens of the first chunk)`. None
    /// where all came at one moment.
    #[must_use]
    pub fn tpot(&self) -> Option<Duration> {
        let (first, last) = (self.arrivals.first()?, self.arrivals.last()?);
        // What the server counts and never shows (an end-of-text token) takes its time too.
        let rest = self.output_tokens as f64 - first.tokens;
        (last.at > first.at && rest > 0.0).then(|| (last.at - first.at).div_f64(rest))
    }

    /// Each pause between two arrivals, with the number of tokens that ended it.
    pub fn pauses(&self) -> impl Iterator<Item = (Duration, f64)> {
        let pairs = self.arrivals.iter().zip(self.arrivals.iter().skip(1));
        pairs.map(|(before, after)| (after.at - before.at, after.tokens))
    }

    fn first(&self) -> Option<Duration> {
        self.arrivals.first().map(|first| first.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    fn outcome(arrivals: &[(u64, f64)], output_tokens: u64) -> Outcome {
        Outcome {
            number: 0,
            target: 0,
            due: ms(100),
            free: ms(130),
            sent: ms(131),
            ended: ms(500),
            end: End::Whole,
            why: None,
            status: 200,
            source: Source::Unsaid,
            arrivals: arrivals
                .iter()
                .map(|&(at, tokens)| Arrived {
                    at: ms(at),
                    chunks: 1,
                    tokens,
                })
                .collect(),
            prompt_tokens: 1,
            cached_tokens: 0,
            output_tokens,
            counted: Counted::Server,
        }
    }

    #[test]
    fn every_time_is_told_apart() {
        let outcome = outcome(&[(200, 1.0), (220, 1.0), (260, 1.0)], 3);
        assert_eq!((outcome.queued(), outcome.lag()), (ms(30), ms(1)));
        assert_eq!(
            (outcome.ttft(), outcome.ttft_from_send()),
            (Some(ms(100)), Some(ms(69)))
        );
        assert_eq!(
            (outcome.e2el(), outcome.e2el_from_send()),
            (ms(400), ms(369))
        );
        assert_eq!(outcome.tpot(), Some(ms(30)));
        assert_eq!(
            outcome.pauses().collect::<Vec<_>>(),
            [(ms(20), 1.0), (ms(40), 1.0)]
        );
    }

    #[test]
    fn tokens_of_the_first_chunk_took_no_time_after_it() {
        let outcome = outcome(&[(200, 4.0), (240, 4.0), (280, 4.0)], 12);
        assert_eq!(outcome.tpot(), Some(ms(10)));
    }

    #[test]
    fn one_arrival_has_no_time_per_token() {
        assert_eq!(outcome(&[(200, 5.0)], 5).tpot(), None);
        assert_eq!(outcome(&[], 0).ttft(), None);
    }
}
